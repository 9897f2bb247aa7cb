import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { globPattern } from "../../compiler/scan/plugin/declared.js";
import { fillServers } from "../../compiler/scan/plugin/placeholders.js";
import { readPlugin } from "../../compiler/scan/plugin/read.js";
import { diskSource, memorySource } from "../../compiler/source.js";
import { agentPlugins, claude, cursor, fixtures, read, skill } from "./plugin-files.js";

describe("the fixture of each format", () => {
  const load = (name: string) => {
    const { value, diagnostics } = readPlugin(diskSource(fixtures), name);
    if (value === undefined) throw new Error(diagnostics.map((each) => each.message).join("\n"));
    return { plugin: value, said: diagnostics.map((each) => `${each.code} ${each.message}`) };
  };

  it("reads Cursor's", () => {
    const { plugin, said } = load("notes");
    expect(plugin).toMatchObject({ format: "cursor", name: "notes", version: "1.4.0", path: "notes" });
    expect(plugin.skills.map((each) => [each.name, each.files.map((file) => file.path)])).toEqual([
      ["capture", ["templates/note.md"]],
      ["weekly-digest", []],
    ]);
    expect(plugin.skills[1]?.description).toBe("Sum up a week: what was decided, what is open");
    expect(plugin.commands).toEqual([
      {
        name: "tidy",
        description: "Tidy the inbox.",
        markdown: "Tidy the inbox.\n\nMove each note to its folder.\n",
        file: "notes/commands/tidy.txt",
      },
    ]);
    expect(plugin.agents).toMatchObject([{ name: "librarian", model: "inherit", readonly: true }]);
    expect(plugin.mcpServers).toMatchObject([
      { name: "notes", transport: "http", url: "https://${NOTES_REGION}.notes.example.test/mcp" },
      { name: "search", transport: "stdio", command: "node", env: { PORT: "8080" } },
    ]);
    expect(plugin.mcpServers[0]?.span).toMatchObject({ file: "notes/mcp.json", line: 3 });
    expect(plugin.variables).toEqual([
      { name: "NOTES_REGION", required: false, default: "eu" },
      { name: "NOTES_TOKEN", required: true, description: "Token of the notes service" },
    ]);
    expect(plugin.ignored.map((each) => each.what)).toEqual(["rules", "hooks"]);
    expect(said.map((each) => each.slice(0, 7)).sort()).toEqual(["BDK1021", "BDK1106", "BDK1111", "BDK2019"]);
  });

  it("reads Claude's", () => {
    const { plugin, said } = load("desk");
    expect(plugin).toMatchObject({ format: "claude", name: "desk", version: "0.3.1" });
    expect(plugin.skills.map((each) => each.name)).toEqual(["escalate", "handover"]);
    expect(plugin.commands.map((each) => [each.name, each.description])).toEqual([
      ["answer", "Answer a ticket"],
      ["queue-triage", "Triage"],
    ]);
    expect(plugin.agents.map((each) => [each.name, each.model, each.tools])).toEqual([
      ["reviewer", "sonnet", ["Read", "Grep"]],
      ["router", undefined, ["Read", "Grep"]],
    ]);
    expect(plugin.agents[0]?.description).toContain('Context: An answer is ready. user: "Send it"');
    expect(plugin.mcpServers.map((each) => [each.name, each.transport])).toEqual([
      ["archive", "stdio"],
      ["desk", "http"],
    ]);
    expect(plugin.variables).toEqual([
      { name: "ARCHIVE_KEY", required: true },
      { name: "DESK_QUEUE", required: false },
      { name: "desk_url", required: true, description: "Address of the desk" },
    ]);
    expect(said.map((each) => each.slice(0, 7)).sort()).toEqual([
      "BDK1106",
      "BDK1106",
      "BDK1111",
      "BDK1112",
      "BDK2019",
    ]);
  });

  it("reads Agent Plugins 1.0, without a complaint", () => {
    const { plugin, said } = load("pager");
    expect(plugin).toMatchObject({
      format: "agent-plugins",
      name: "pager",
      version: "2.0.0",
      commands: [],
      agents: [],
      ignored: [],
      variables: [],
    });
    expect(plugin.skills.map((each) => each.name)).toEqual(["on-call"]);
    const { value } = fillServers(plugin, { variables: {}, root: "/srv/pager", data: "/var/pager" });
    expect(value).toMatchObject([
      { command: "node", args: ["/srv/pager/bin/pager.mjs", "--state", "/var/pager"], cwd: "/srv/pager/bin" },
      { transport: "http", url: "https://status.example.test/mcp" },
    ]);
    expect(said).toEqual([]);
  });
});

describe("which plugin it is", () => {
  it("takes the formats in the order of their hosts", () => {
    const all = { ...agentPlugins(), ...claude(), ...cursor() };
    expect(read(all).plugin?.format).toBe("cursor");
    expect(read({ ...agentPlugins(), ...claude() }).plugin?.format).toBe("claude");
    expect(read(agentPlugins()).plugin?.format).toBe("agent-plugins");
  });

  it("needs no manifest for Claude's, and then takes the folder's name", () => {
    expect(read({ "skills/s/SKILL.md": skill() }).plugin).toMatchObject({ format: "claude", name: "p" });
  });

  it("says what is expected where there is none, and which plugins a marketplace has", () => {
    expect(read({ "readme.md": "" }).codes).toEqual(["BDK1101"]);
    const marketplace = {
      name: "m",
      plugins: [
        { name: "a", source: "./a" },
        { name: "b", source: "b" },
      ],
    };
    const { diagnostics } = read({ ".cursor-plugin/marketplace.json": JSON.stringify(marketplace) });
    expect(diagnostics).toMatchObject([
      { code: "BDK1101", help: "this is a marketplace; mount one of its plugins: a, b" },
    ]);
    expect(readPlugin(memorySource({}), "plugins/none").diagnostics).toMatchObject([{ code: "BDK1101" }]);
  });

  it.each([
    ["broken JSON", { ".cursor-plugin/plugin.json": "{" }, "BDK1102"],
    ["no object", { ".claude-plugin/plugin.json": "[]" }, "BDK1102"],
    [
      "a later Agent Plugins",
      agentPlugins({ $schema: "https://agent-plugins.org/schemas/2.0.0/plugin.schema.json" }),
      "BDK1102",
    ],
    ["paths that are no paths", cursor({ skills: 5 }), "BDK1102"],
    ["servers that are none", cursor({ mcpServers: 5 }), "BDK1102"],
  ])("refuses %s, and mounts nothing", (_title, files, code) => {
    const { plugin, codes } = read(files);
    expect(codes).toContain(code);
    expect(plugin).toBeUndefined();
  });

  it.each([
    ["an unknown key", cursor({ sklls: "skills" })],
    ["no name", cursor({ name: undefined })],
    ["an odd name", cursor({ name: "My Plugin" })],
    ["no $schema", agentPlugins({ $schema: undefined })],
    ["no $schema of mcp.json", agentPlugins({}, { "mcp.json": '{"mcpServers":{}}' })],
  ])("takes %s with a warning", (_title, files) => {
    const { plugin, codes } = read(files);
    expect(codes).toEqual(["BDK1103"]);
    expect(plugin).toBeDefined();
  });
});

describe("where its parts are", () => {
  const two = { "skills/a/SKILL.md": skill(), "more/b/SKILL.md": skill() };

  it("Cursor's paths stand in for the usual folder, Claude's skills add to it", () => {
    expect(read(cursor({ skills: "more" }, two)).plugin?.skills.map((each) => each.name)).toEqual(["b"]);
    expect(read(claude({ skills: "./more" }, two)).plugin?.skills.map((each) => each.name)).toEqual(["a", "b"]);
    const files = { "commands/a.md": "Do a", "other/b.md": "Do b" };
    expect(read(claude({ commands: ["./other"] }, files)).plugin?.commands.map((each) => each.name)).toEqual(["b"]);
    expect(read(claude({ commands: { x: { source: "./other/b.md" } } }, files)).plugin?.commands).toHaveLength(1);
  });

  it.each(["more/b", "more/b/SKILL.md", "./more/", "more/*", "more/*/SKILL.md", "**/b/SKILL.md", "more/{a,b}"])(
    "finds a skill by %s",
    (path) => expect(read(cursor({ skills: path }, two)).plugin?.skills.map((each) => each.name)).toEqual(["b"]),
  );

  it("globs as hosts do", () => {
    expect(globPattern("a/*.md").test("a/b.md")).toBe(true);
    expect(globPattern("a/*.md").test("a/b/c.md")).toBe(false);
    expect(globPattern("**/*.{md,txt}").test("x/y/z.txt")).toBe(true);
    expect(globPattern("?.md").test("ab.md")).toBe(false);
    expect(globPattern("a.md").test("axmd")).toBe(false);
  });

  it("warns of what is not there", () => {
    const { plugin, codes } = read(cursor({ skills: "none", agents: ["agents/*.md"], mcpServers: "none.json" }));
    expect(codes).toEqual(["BDK1105", "BDK1105", "BDK1105"]);
    expect(plugin).toBeDefined();
  });

  it.each(["../outside", "/etc/passwd", "a/../../b", "C:\\x", "~/x", "..\\up"])("refuses to leave by %s", (path) => {
    expect(read(cursor({ skills: path }))).toMatchObject({ plugin: undefined, codes: ["BDK1104"] });
    expect(read(cursor({ mcpServers: path }))).toMatchObject({ plugin: undefined, codes: ["BDK1104"] });
  });

  it("has no commands and agents in Agent Plugins", () => {
    const { plugin, codes } = read(agentPlugins({}, { "commands/a.md": "Do a", "agents/b.md": skill() }));
    expect(plugin).toMatchObject({ commands: [], agents: [] });
    expect(codes).toEqual(["BDK1111"]);
  });

  it("lets a skill win over a command of its name, and the first of two", () => {
    const { plugin, codes } = read(
      cursor(
        { skills: ["skills/a", "other/a"] },
        { "skills/a/SKILL.md": skill(), "other/a/SKILL.md": skill(), "commands/a.md": "Do a" },
      ),
    );
    expect(plugin?.skills.map((each) => each.file)).toEqual(["plugins/p/skills/a/SKILL.md"]);
    expect(plugin?.commands).toEqual([]);
    expect(codes.filter((code) => code === "BDK1107")).toHaveLength(2);
  });
});

describe("links", () => {
  function onDisk(build: (root: string) => void) {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "bdk-plugin-")));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    mkdirSync(join(root, "plugins/p/skills/s"), { recursive: true });
    mkdirSync(join(root, "secrets"));
    writeFileSync(join(root, "plugins/p/skills/s/SKILL.md"), skill());
    writeFileSync(join(root, "secrets/key.txt"), "secret");
    writeFileSync(join(root, "secrets/SKILL.md"), skill());
    build(root);
    const { value, diagnostics } = readPlugin(diskSource(root), "plugins/p");
    return { plugin: value, codes: diagnostics.map((each) => each.code), text: JSON.stringify([value, diagnostics]) };
  }

  it.each<[string, (root: string) => void]>([
    [
      "a sibling of a skill",
      (root) => symlinkSync("../../../../secrets/key.txt", join(root, "plugins/p/skills/s/key.txt")),
    ],
    ["a skill's folder", (root) => symlinkSync("../../../secrets", join(root, "plugins/p/skills/t"))],
    ["a folder beyond the project", (root) => symlinkSync(tmpdir(), join(root, "plugins/p/skills/t"))],
    ["the servers' file", (root) => symlinkSync("../../secrets/key.txt", join(root, "plugins/p/.mcp.json"))],
  ])("refuses %s outside the plugin", (_title, build) => {
    const { plugin, codes, text } = onDisk(build);
    expect(codes).toContain("BDK1104");
    expect(plugin).toBeUndefined();
    expect(text).not.toContain('secret"');
  });

  it("follows those that stay inside, and walks no circle", () => {
    const { plugin, codes } = onDisk((root) => {
      mkdirSync(join(root, "plugins/p/shared"));
      writeFileSync(join(root, "plugins/p/shared/list.md"), "- a\n");
      symlinkSync("../../shared/list.md", join(root, "plugins/p/skills/s/list.md"));
      symlinkSync("..", join(root, "plugins/p/skills/s/loop"));
      symlinkSync("nowhere", join(root, "plugins/p/skills/s/broken"));
    });
    expect(codes).toEqual([]);
    expect(plugin?.skills[0]?.files.map((each) => each.path)).toEqual(["list.md"]);
  });

  it("refuses a plugin that is a link out of the project", () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "bdk-plugin-")));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    symlinkSync(fixtures, join(root, "p"));
    expect(readPlugin(diskSource(root), "p").diagnostics).toMatchObject([
      { code: "BDK1101", message: expect.stringContaining("leads out of the project") },
    ]);
    expect(readPlugin(diskSource(root), "../p").diagnostics).toMatchObject([{ code: "BDK1101" }]);
  });
});
