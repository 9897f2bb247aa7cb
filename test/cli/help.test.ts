import { describe, expect, test } from "vitest";
import { takesValue } from "../../cli/command.js";
import { commandNames, commandSpec } from "../../cli/command-table.js";
import { bdk } from "./bdk.js";

const ansi = "\u001b[";

describe("help", () => {
  test("bdk alone, bdk help and bdk --help are one overview with every command", async () => {
    const [alone, help, flag] = await Promise.all([bdk([]), bdk(["help"]), bdk(["--help"])]);
    expect(alone.code).toBe(0);
    expect(alone.stderr).toBe("");
    expect(help.stdout).toBe(alone.stdout);
    expect(flag.stdout).toBe(alone.stdout);
    for (const name of commandNames) expect(alone.stdout).toContain(`  ${name} `);
  });

  test("every command explains itself, with examples that start with bdk or node", async () => {
    const { code, stdout } = await bdk(["help", "--all", "--json"]);
    expect(code).toBe(0);
    const { commands } = JSON.parse(stdout) as {
      commands: { name: string; examples: { command: string }[]; options: { flag: string; summary: string }[] }[];
    };
    expect(commands.map((each) => each.name)).toEqual([...commandNames]);
    for (const command of commands) {
      expect(command.examples.length, command.name).toBeGreaterThan(0);
      for (const example of command.examples) expect(example.command).toMatch(/^(bdk|node) /);
      for (const option of command.options) expect(option.summary, option.flag).not.toBe("");
    }
  });

  test.each(["build", "serve", "run", "init"] as const)("bdk %s --help is bdk help %s", async (name) => {
    const [flag, help, data] = await Promise.all([
      bdk([name, "--help"]),
      bdk(["help", name]),
      bdk([name, "--help", "--json"]),
    ]);
    expect(flag.code).toBe(0);
    expect(flag.stdout).toBe(help.stdout);
    expect(flag.stdout).toContain(`usage: bdk ${name}`);
    expect(flag.stdout).toContain("Examples");
    expect(JSON.parse(data.stdout)).toMatchObject({ name });
  });

  test("an action is explained on its command's page; an action that no command could have is refused", async () => {
    const [action, command, wrong] = await Promise.all([
      bdk(["help", "github", "replay"]),
      bdk(["github", "replay", "--help"]),
      bdk(["help", "build", "replay"]),
    ]);
    expect(action).toMatchObject({ code: 0, stdout: command.stdout });
    expect(action.stdout).toContain("usage: bdk github");
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('bdk build has no actions, such as "replay"');
  });

  test("help loads no compiler and no server", async () => {
    const { code, stdout, stderr } = await bdk(["--help"], {
      env: {
        NODE_OPTIONS:
          "--experimental-loader=data:text/javascript,export%20function%20resolve(s,c,n){if(/^(ts-morph|esbuild|fastify|chokidar|zod)/.test(s))throw%20new%20Error('loaded%20'+s);return%20n(s,c)}",
        NODE_NO_WARNINGS: "1",
      },
    });
    expect(stderr).toBe("");
    expect(stdout).toContain("usage: bdk");
    expect(code).toBe(0);
  });

  test("a flag of one spelling takes a value in every command or in none", () => {
    const kinds = new Map<string, boolean>();
    for (const name of commandNames) {
      for (const [option, spec] of Object.entries(commandSpec(name).options)) {
        const flag = spec.kind === "off" ? `--no-${option}` : `--${option}`;
        expect(kinds.get(flag) ?? takesValue(spec), `${name} ${flag}`).toBe(takesValue(spec));
        kinds.set(flag, takesValue(spec));
      }
    }
  });
});

describe("colours", () => {
  test("none through a pipe, some when forced, none with NO_COLOR", async () => {
    const [plain, forced, refused, ci] = await Promise.all([
      bdk(["help"]),
      bdk(["help"], { env: { FORCE_COLOR: "1" } }),
      bdk(["help"], { env: { FORCE_COLOR: "1", NO_COLOR: "1" } }),
      bdk(["help"], { env: { CI: "true" } }),
    ]);
    expect(plain.stdout).not.toContain(ansi);
    expect(forced.stdout).toContain(ansi);
    expect(refused.stdout).toBe(plain.stdout);
    expect(ci.stdout).toBe(plain.stdout);
  });
});

describe("version", () => {
  test("three ways to ask, and as JSON", async () => {
    const [command, long, short, json] = await Promise.all([
      bdk(["version"]),
      bdk(["--version"]),
      bdk(["-v"]),
      bdk(["version", "--json"]),
    ]);
    expect(command.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(long.stdout).toBe(command.stdout);
    expect(short.stdout).toBe(command.stdout);
    expect(JSON.parse(json.stdout)).toEqual({
      bdk: command.stdout.trim(),
      node: process.versions.node,
      platform: `${process.platform}-${process.arch}`,
    });
  });
});

describe("mistakes on the command line exit 2, with code and suggestion", () => {
  test.each([
    [["biuld"], "BDK8001", "did you mean bdk build?"],
    [["help", "buidl"], "BDK8001", "did you mean bdk build?"],
    [["serve", "--prot", "1"], "BDK8002", "did you mean --port?"],
    [["validate", "--tpyes"], "BDK8002", "did you mean --types?"],
    [["serve", "--no-playgroud"], "BDK8002", "did you mean --no-playground?"],
    [["validate", "-x"], "BDK8002", "--help"],
    [["--bogus"], "BDK8002", "--help"],
    [["serve", "--port", "eighty"], "BDK8003", "an integer from 0 to 65535"],
    [["serve", "--port", "70000"], "BDK8003", "an integer from 0 to 65535"],
    [["serve", "--port"], "BDK8003", "needs a value"],
    [["run", "--message", "--text"], "BDK8003", "--message needs a value"],
    [["serve", "--mode", "singel"], "BDK8003", "did you mean single?"],
    [["validate", "--json=maybe"], "BDK8003", "takes no value"],
    [["call"], "BDK8004", "usage: bdk call <tool> [options]"],
    [["validate", "somewhere"], "BDK8004", "usage: bdk validate [options]"],
    [["explain", "BDK2003", "more"], "BDK8004", "usage: bdk explain <code> [options]"],
    [["serve", "--allow-anonymous", "--bearer-token", "x"], "BDK8005", "leave one out"],
    [["validate", "--dir", "/nowhere/at/all"], "BDK8006", "bdk init"],
    [["validate", "--dir", "package.json"], "BDK8006", "not a folder"],
    [
      ["build", "--dir", "fixtures/projects/pr-approver", "--out", "fixtures/projects/pr-approver/bot"],
      "BDK8008",
      "--out dist",
    ],
    [["explain", "BDK8oo1"], "BDK8010", "did you mean BDK8001?"],
    [["call", "x", "--input", "{id:1}"], "BDK8012", "quote it for the shell"],
    [["call", "x", "--input", "@/nowhere.json"], "BDK8012", "--input @path"],
    [["run", "--url", "ftp://x", "--message", "x"], "BDK8003", "http://127.0.0.1:3000"],
    [["run"], "BDK8003", "needs a message"],
    [["init"], "BDK8004", "bdk init my-agent"],
  ])("bdk %j", async (args, code, part) => {
    const { code: exitCode, stdout, stderr } = await bdk(args);
    expect(stderr).toContain(code);
    expect(stderr).toContain(part);
    expect(stdout).toBe("");
    expect(exitCode).toBe(2);
  });

  test.each([[["run", "-m", "x", "--json", "--text"]], [["validate", "--json", "--format", "github"]]])(
    "bdk %j asks for two things",
    async (args) => {
      const { code, stdout } = await bdk(args);
      expect(JSON.parse(stdout)).toMatchObject({ ok: false, diagnostics: [{ code: "BDK8005", help: "choose one" }] });
      expect(code).toBe(2);
    },
  );

  test("with --json, as data on stdout", async () => {
    const { code, stdout, stderr } = await bdk(["validate", "--tpyes", "--json"]);
    expect(code).toBe(2);
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      diagnostics: [{ code: "BDK8002", severity: "error", help: "did you mean --types?" }],
    });
  });
});

describe("explain", () => {
  test.each(["BDK8002", "bdk8002", "8002"])("bdk explain %s", async (asked) => {
    const { code, stdout } = await bdk(["explain", asked]);
    expect(code).toBe(0);
    expect(stdout).toContain("# BDK8002: Unknown option");
  });

  test("as JSON", async () => {
    const { stdout } = await bdk(["explain", "8002", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ code: "BDK8002", severity: "error", title: "Unknown option" });
  });
});
