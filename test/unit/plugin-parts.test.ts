import { describe, expect, it } from "vitest";
import { fillServers } from "../../compiler/scan/plugin/placeholders.js";
import { agentPlugins, claude, cursor, read } from "./plugin-files.js";

describe("front matter", () => {
  const description = (yaml: string) => read(claude({}, { "agents/a.md": `---\n${yaml}\n---\nText\n` }));

  it.each([
    ["an unquoted colon", "name: a\ndescription: Use it so: like this", "Use it so: like this"],
    ["quotes within", 'name: a\ndescription: Say "yes": and go', 'Say "yes": and go'],
    ["lines that run on", "name: a\ndescription: First\n\nUse it\nuser: second\nmodel: m", "First Use it user: second"],
    ["Windows line ends", "name: a\r\ndescription: One: two\r", "One: two"],
  ])("mends %s", (_title, yaml, expected) => {
    const { plugin, codes } = description(yaml);
    expect(plugin?.agents.map((each) => each.description)).toEqual([expected]);
    expect(codes).toEqual(["BDK1106"]);
  });

  it("leaves out what can't be mended, and what says nothing, and mounts the rest", () => {
    const files = {
      "agents/a.md": "---\nname: [\n---\nText\n",
      "agents/b.md": "no front matter\n",
      "agents/c.md": "---\nname: c\n---\nText\n",
      "agents/d.md": "---\nname: d\ndescription: Fine\n---\nText\n",
    };
    const { plugin, codes } = read(claude({}, files));
    expect(plugin?.agents.map((each) => each.name)).toEqual(["d"]);
    expect(codes).toEqual(["BDK1107", "BDK1107", "BDK1107"]);
  });

  it("never runs anything, and expands no bomb", () => {
    const bomb = [
      "a: &a [x,x,x,x,x,x,x,x,x]",
      ..."bcdefg"
        .split("")
        .map((name, index) => `${name}: &${name} [${`*${"abcdef"[index]},`.repeat(9).slice(0, -1)}]`),
    ].join("\n");
    expect(description(`${bomb}\ndescription: x`).codes).toEqual(["BDK1107"]);
    expect(description("description: !!js/function 'function(){ throw 1 }'").plugin?.agents).toHaveLength(1);
    expect(description("__proto__: { polluted: true }\ndescription: x").plugin?.agents).toHaveLength(1);
    expect("polluted" in {}).toBe(false);
  });

  it("treats a rule of hyphens further down as text", () => {
    const { plugin } = read(claude({}, { "commands/a.md": "Do a\n\n---\nname: x\n---\n" }));
    expect(plugin?.commands).toMatchObject([{ name: "a", description: "Do a" }]);
  });
});

describe("names", () => {
  it.each([
    ["Poteto Mode", "Poteto-Mode"],
    ["a__b", "a_b"],
    ["naïve café", "naive-cafe"],
    ["-x-", "x"],
  ])("mounts the agent %s as %s", (name, expected) => {
    const { plugin, codes } = read(claude({}, { "agents/f.md": `---\nname: ${name}\ndescription: d\n---\nText\n` }));
    expect(plugin?.agents.map((each) => each.name)).toEqual([expected]);
    expect(codes).toEqual(["BDK1108"]);
  });

  it("leaves out a name of nothing", () => {
    expect(read(claude({}, { "agents/f.md": '---\nname: "***"\ndescription: d\n---\nText\n' })).codes).toEqual([
      "BDK1107",
    ]);
  });
});

describe("MCP servers", () => {
  const servers = (value: unknown) => read(claude({}, { ".mcp.json": JSON.stringify(value) }));

  it.each<[string, unknown, object]>([
    ["wrapped", { mcpServers: { a: { url: "https://a.test" } } }, { transport: "http" }],
    ["a bare map", { a: { url: "https://a.test" } }, { transport: "http" }],
    ["typed streamable-http", { a: { type: "streamable-http", url: "https://a.test" } }, { transport: "http" }],
    ["typed sse", { a: { type: "sse", url: "https://a.test" } }, { transport: "sse" }],
    [
      "a command",
      { a: { command: "x", args: ["-y"], env: { N: 1, B: true } } },
      { transport: "stdio", env: { N: "1", B: "true" } },
    ],
    ["static OAuth", { a: { url: "https://a.test", auth: { CLIENT_ID: "${ID}" } } }, { auth: { CLIENT_ID: "${ID}" } }],
  ])("reads %s", (_title, value, expected) => {
    expect(servers(value).plugin?.mcpServers).toMatchObject([{ name: "a", ...expected }]);
  });

  it.each<[string, unknown]>([
    ["neither command nor url", { a: {} }],
    ["both", { a: { command: "x", url: "https://a.test" } }],
    ["no object", { a: "x" }],
    ["an unknown type", { a: { type: "ws", url: "wss://a.test" } }],
    ["args that are none", { a: { command: "x", args: "-y" } }],
    ["headers that are none", { a: { url: "https://a.test", headers: ["x"] } }],
    ["a cwd outside", { a: { command: "x", cwd: "../.." } }],
    ["a wrapped list", { mcpServers: [] }],
  ])("refuses %s, at its line", (_title, value) => {
    const { plugin, diagnostics } = servers(value);
    expect(plugin).toBeUndefined();
    expect(diagnostics).toMatchObject([
      { code: "BDK1109", labels: [{ span: { file: "plugins/p/.mcp.json", line: 1 } }] },
    ]);
  });

  it("leaves out a disabled one", () => {
    expect(servers({ a: { command: "x", disabled: true } })).toMatchObject({
      codes: ["BDK1107"],
      plugin: { mcpServers: [] },
    });
  });

  it("holds Agent Plugins to its own names", () => {
    const mcp = JSON.stringify({
      $schema: "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json",
      mcpServers: { a: { type: "stdio", command: "x", env: { PLUGIN_ROOT: "/" } } },
    });
    expect(read(agentPlugins({}, { "mcp.json": mcp })).codes).toEqual(["BDK1109"]);
  });
});

describe("placeholders", () => {
  const filled = (text: string, variables: Record<string, string | undefined>, manifest: object = {}) => {
    const { plugin } = read(
      cursor({ ...manifest, mcpServers: { a: { url: "https://a.test", headers: { h: text } } } }),
    );
    if (plugin === undefined) throw new Error("the plugin was not read");
    const { value, diagnostics } = fillServers(plugin, { variables, root: "/root", data: "/data" });
    const [server] = value;
    return { header: server?.transport === "http" ? server.headers.h : undefined, diagnostics };
  };

  it("are filled once: a value is never expanded again", () => {
    expect(filled("${A}", { A: "${B}", B: "no" }).header).toBe("${B}");
  });

  it("take the default that the manifest declares after their own", () => {
    const manifest = { variables: { type: "object", properties: { A: { default: "declared" } } } };
    expect(filled("${A}", {}, manifest).header).toBe("declared");
    expect(filled("${A:-own}", {}, manifest).header).toBe("own");
    expect(filled("${A}", { A: "given" }, manifest).header).toBe("given");
  });

  it("without a value are an error at the server, and nothing is mounted", () => {
    const { header, diagnostics } = filled("Bearer ${NOTES_TOKEN}", { NOTE_TOKEN: "x" });
    expect(header).toBeUndefined();
    expect(diagnostics).toMatchObject([
      {
        code: "BDK1110",
        message: '${NOTES_TOKEN} in headers.h of the MCP server "a" has no value',
        help: expect.stringContaining("did you mean NOTE_TOKEN to be NOTES_TOKEN?"),
        labels: [{ span: { file: "plugins/p/.cursor-plugin/plugin.json" } }],
      },
    ]);
  });

  it("that only another host can fill are an error too", () => {
    expect(filled("${workspace folder}", {}).diagnostics).toMatchObject([{ code: "BDK1110" }]);
  });

  it("miss a required variable even where no server asks for it", () => {
    const manifest = { variables: { type: "object", properties: { A: {} }, required: ["A"] } };
    expect(filled("x", {}, manifest).diagnostics).toMatchObject([
      { code: "BDK1110", message: "the plugin p requires the variable A" },
    ]);
    expect(filled("x", { A: "1" }, manifest).header).toBe("x");
  });
});
