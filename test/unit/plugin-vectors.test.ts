/** The reader against what was gathered from public plugins; the files stay in ../shared. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { describe, expect, it } from "vitest";
import { fillServers } from "../../compiler/scan/plugin/placeholders.js";
import { readPlugin } from "../../compiler/scan/plugin/read.js";
import { memorySource } from "../../compiler/source.js";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const vectors = join(root, "../shared/vectors/plugins");
const load = <T>(file: string): T => JSON.parse(readFileSync(join(vectors, file), "utf8")) as T;
const fixture = (file: string): unknown => JSON.parse(readFileSync(join(root, "fixtures/plugins", file), "utf8"));

function read(files: Readonly<Record<string, string>>) {
  const below = Object.fromEntries(Object.entries(files).map(([file, text]) => [`p/${file}`, text]));
  const { value, diagnostics } = readPlugin(memorySource(below), "p");
  return { plugin: value, codes: diagnostics.map((each) => each.code) };
}

describe.runIf(existsSync(vectors))("the published schemas", () => {
  const draft7 = new Ajv({ strict: false });
  const draft2020 = new Ajv2020({ strict: false });
  addFormats.default(draft7);
  const validator = (file: string) => {
    const schema = load<{ $schema: string }>(`schemas/${file}`);
    return (schema.$schema.includes("2020") ? draft2020 : draft7).compile(schema);
  };
  const cursor = validator("cursor-plugin.schema.json");
  const marketplace = validator("cursor-marketplace.schema.json");
  const plugin = validator("agent-plugins-1.0.0-plugin.schema.json");
  const mcp = validator("agent-plugins-1.0.0-mcp.schema.json");
  const pluginSchema = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json";
  const mcpSchema = "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json";

  it("accept our fixtures", () => {
    expect(cursor(fixture("notes/.cursor-plugin/plugin.json")), JSON.stringify(cursor.errors)).toBe(true);
    expect(plugin(fixture("pager/plugin.json")), JSON.stringify(plugin.errors)).toBe(true);
    expect(mcp(fixture("pager/mcp.json")), JSON.stringify(mcp.errors)).toBe(true);
  });

  it.each<object>([
    { name: "p" },
    { name: "p.q-r", version: "1.0.0", skills: "skills", agents: ["agents"], commands: [], rules: "rules", hooks: {} },
    { name: "p", mcpServers: {} },
    { name: "p", mcpServers: [{ a: { url: "https://a.test" } }] },
    { name: "p", variables: { type: "object", properties: { A: { type: "string" } }, required: ["A"] } },
    { name: "p", minClientVersions: { cursor: "3.13.0" }, author: { name: "x" }, logo: "logo.png", tags: ["x"] },
    { name: "My Plugin" },
    { version: "1.0.0" },
    { name: "p", skils: "x" },
    { name: "p", skills: 5 },
    { name: "p", skills: [5] },
    { name: "p", mcpServers: 5 },
  ])("and we agree on Cursor's manifest %j", (manifest) => {
    const there = { "skills/s/SKILL.md": "---\ndescription: d\n---\nx", "agents/a.md": "---\ndescription: d\n---\nx" };
    const { codes } = read({ ".cursor-plugin/plugin.json": JSON.stringify(manifest), ...there });
    const complaints = codes.filter((code) => code === "BDK1102" || code === "BDK1103");
    expect(complaints.length === 0).toBe(cursor(manifest));
  });

  it.each<object>([
    { $schema: pluginSchema, name: "p" },
    { $schema: pluginSchema, name: "p", version: "1", extensions: { "a.b": {} }, keywords: ["x"] },
    { name: "p" },
    { $schema: pluginSchema },
    { $schema: pluginSchema, name: "P" },
    { $schema: pluginSchema, name: "p", skills: "skills" },
    { $schema: "https://agent-plugins.org/schemas/9.0.0/plugin.schema.json", name: "p" },
  ])("and we agree on Agent Plugins' manifest %j", (manifest) => {
    expect(read({ "plugin.json": JSON.stringify(manifest) }).codes.length === 0).toBe(plugin(manifest));
  });

  it.each<object>([
    { $schema: mcpSchema, mcpServers: {} },
    {
      $schema: mcpSchema,
      mcpServers: { a: { type: "stdio", command: "x", args: ["y"], env: { A: "1" }, cwd: "./z" } },
    },
    { $schema: mcpSchema, mcpServers: { a: { type: "stdio", command: "x", cwd: "${PLUGIN_DATA}/z" } } },
    { $schema: mcpSchema, mcpServers: { a: { type: "streamable-http", url: "https://a.test", headers: { h: "v" } } } },
    { $schema: mcpSchema, mcpServers: { a: { type: "sse", url: "https://a.test" } } },
    { mcpServers: {} },
    { $schema: mcpSchema, mcpServers: { a: { type: "stdio" } } },
    { $schema: mcpSchema, mcpServers: { a: { type: "stdio", command: "x", env: { PLUGIN_DATA: "1" } } } },
    { $schema: mcpSchema, mcpServers: { a: { type: "stdio", command: "x", cwd: "/z" } } },
    { $schema: mcpSchema, mcpServers: { a: { type: "ws", url: "wss://a.test" } } },
  ])("and we agree on Agent Plugins' servers %j", (servers) => {
    const manifest = JSON.stringify({ $schema: pluginSchema, name: "p" });
    expect(read({ "plugin.json": manifest, "mcp.json": JSON.stringify(servers) }).codes.length === 0).toBe(
      mcp(servers),
    );
  });

  it("a marketplace is no plugin", () => {
    const value = { name: "m", plugins: [{ name: "a", source: "./plugins/a" }] };
    expect(marketplace(value)).toBe(true);
    expect(read({ ".cursor-plugin/marketplace.json": JSON.stringify(value) }).codes).toEqual(["BDK1101"]);
  });
});

interface EnvVectors {
  readonly env: Readonly<Record<string, string>>;
  readonly vectors: readonly (readonly [text: string, expected: string | { readonly bdk: string }])[];
  readonly seenInRealPlugins: readonly string[];
}

describe.runIf(existsSync(vectors))("placeholders as measured in Claude's host", () => {
  const {
    env,
    vectors: rows,
    seenInRealPlugins,
  } = existsSync(vectors) ? load<EnvVectors>("env-expansion.json") : { env: {}, vectors: [], seenInRealPlugins: [] };

  const fill = (text: string, variables: Readonly<Record<string, string>>) => {
    const { plugin } = read({ ".mcp.json": JSON.stringify({ a: { command: "x", args: [text] } }) });
    if (plugin === undefined) throw new Error("the plugin was not read");
    const { value, diagnostics } = fillServers(plugin, { variables, root: "/root", data: "/data" });
    const [server] = value;
    return diagnostics.length > 0 ? "error" : server?.transport === "stdio" ? server.args[0] : undefined;
  };
  /** Guessed rows say what they mean in words. */
  const guesses: Readonly<Record<string, string>> = { "${MISSING:-a:-b}": "a:-b", "${EMPTY:-d}": "" };

  it.each(rows)("%s", (text, expected) => {
    const wanted = typeof expected === "string" ? (guesses[text] ?? expected) : expected.bdk;
    expect(fill(text, env)).toBe(wanted);
  });

  it.each(seenInRealPlugins)("%s, seen in a real plugin, is filled when its variable is given", (text) => {
    const names = [...text.matchAll(/\$\{(\w+)/g)].map(([, name = ""]) => name);
    const variables = Object.fromEntries(names.map((name) => [name, "v"]));
    expect(fill(text, variables)).not.toMatch(/\$\{|^error$/);
  });
});

type Issue = readonly [kind: string, repo: string, file: string, issue: string];

describe.runIf(existsSync(vectors))("every oddity of 891 real files", () => {
  const issues = existsSync(vectors) ? load<readonly Issue[]>("frontmatter-issues.json") : [];
  const classes = [...new Map(issues.map((issue) => [classOf(issue), issue])).values()];

  /** The kind and what is odd, without the particulars of the file. */
  function classOf([kind, , , issue]: Issue): string {
    return `${kind} ${issue.replace(/(bad name|name!=dir|desc len).*/, "$1").replace(/ at line .*/, "")}`;
  }

  /** A file of our own with that oddity. */
  function sample(issue: string): string {
    const front = (lines: string) => `---\n${lines}\n---\n\nText.\n`;
    if (issue.startsWith("YAML-FAIL Nested")) return front("name: x\ndescription: Use it when: always");
    if (issue.startsWith("YAML-FAIL Implicit")) return front("name: x\ndescription: First\n\nSecond\nmodel: m");
    if (issue === "no-frontmatter") return "# Title\n\nText.\n";
    if (issue.startsWith("desc len")) return front(`name: x\ndescription: ${"long ".repeat(300)}`);
    if (issue.startsWith("bad name")) return front("name: Odd Name\ndescription: d");
    if (issue.startsWith("name!=dir")) return front("name: other\ndescription: d");
    if (issue.startsWith("allowed-tools")) return front("name: x\ndescription: d\nallowed-tools: [Read]");
    if (issue.startsWith("tools type")) return front('name: x\ndescription: d\ntools: ["Read"]');
    if (issue.startsWith("metadata")) return front("name: x\ndescription: d\nmetadata:\n  n: 1");
    throw new Error(`a new class of oddity: ${issue}`);
  }

  it("covers the inventory", () => expect(classes.length).toBeGreaterThanOrEqual(10));

  it.each(classes)("%s in %s: %s, %s", (kind, _repo, _file, issue) => {
    const place = { skill: "skills/x/SKILL.md", agent: "agents/x.md", command: "commands/x.md" }[kind] ?? "";
    const { plugin, codes } = read({ ".claude-plugin/plugin.json": '{"name":"p"}', [place]: sample(issue) });
    expect(plugin).toBeDefined();
    const mounted = [...(plugin?.skills ?? []), ...(plugin?.agents ?? []), ...(plugin?.commands ?? [])];
    const skipped = kind === "agent" && issue === "no-frontmatter";
    expect(mounted).toHaveLength(skipped ? 0 : 1);
    // Lists of tools and commands without front matter are plain usage; the rest is said.
    const silent = issue === "tools type array" || (kind === "command" && issue === "no-frontmatter");
    expect(codes.length > 0).toBe(!silent);
  });
});
