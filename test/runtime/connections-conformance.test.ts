/** The client scenarios of the official conformance runner against an emitted bot whose connection leads to the runner. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommand } from "../bench/measure.mjs";
import { type Check, run, type runners } from "./support/conformance.js";

type Runner = keyof typeof runners;

const work = mkdtempSync(join(tmpdir(), "bdk-conformance-client-"));

const project: Readonly<Record<string, string>> = {
  "package.json": '{ "name": "referee", "type": "module" }',
  "bot/instructions.md": "Be brief.",
  "bot/agent.ts":
    'import { defineAgent } from "@cursor/bdk";\nexport default defineAgent({ model: "offline", tools: [] });\n',
  "bot/mcp-connections/referee.ts":
    'import { defineConnection } from "@cursor/bdk/connections";\nexport default defineConnection({ url: "${REFEREE_URL}", advertiseTools: true });\n',
};

beforeAll(async () => {
  for (const [file, text] of Object.entries(project)) {
    const target = join(work, "project", file);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
  mkdirSync(join(work, "empty"));
  const cli = resolve("dist/cli/bdk.js");
  await runCommand([process.execPath, cli, "build", "--dir", join(work, "project"), "--out", join(work, "out")]);
}, 120_000);

afterAll(() => rmSync(work, { recursive: true, force: true }));

/** Why a scenario is not for a client that calls tools and holds no conversation with a person. */
const notApplicable: Readonly<Record<string, string>> = {
  "elicitation-sep1034-client-defaults": "asks a person; connections declare no elicitation",
  "sep-2322-client-request-state": "its tools ask a person in between; connections declare no elicitation",
};

/** Logins are OAuth's own matter, and skills of servers an extension that bots don't take. */
const isElsewhere = (scenario: string) => scenario.startsWith("auth/") || scenario.startsWith("sep-2640");

const runs: readonly [Runner, string, readonly string[]][] = [
  ["0.1.16", "2025-06-18", ["initialize", "tools_call"]],
  ["0.1.16", "2025-11-25", ["sse-retry"]],
  ["0.2.0-alpha.12", "2025-06-18", ["initialize", "tools_call"]],
  ["0.2.0-alpha.12", "2025-11-25", ["sse-retry", "json-schema-2020-12-preservation"]],
  [
    "0.2.0-alpha.12",
    "2026-07-28",
    [
      "tools_call",
      "request-metadata",
      "http-standard-headers",
      "http-custom-headers",
      "http-invalid-tool-headers",
      "json-schema-ref-no-deref",
      "json-schema-2020-12-preservation",
    ],
  ],
];

describe.each(runs)("runner %s, revision %s", (runner, revision, scenarios) => {
  it.each(scenarios)("%s", async (scenario) => {
    const checks = await check(runner, revision, scenario);
    expect(checks.some(({ status }) => status === "SUCCESS")).toBe(true);
    // How soon a stream is taken up again is measured in milliseconds: a busy machine has its own idea of that.
    const failed = checks.filter(({ id, status }) => status === "FAILURE" && id !== "client-sse-retry-timing");
    expect(failed).toEqual([]);
  });
});

it.each(["0.1.16", "0.2.0-alpha.12"] as const)("runner %s has no other scenario for clients", async (runner) => {
  const listed = await run(runner, ["list"]);
  const part = /Client scenarios[^\n]*\n([\s\S]*?)(?:\n\n|$)/.exec(listed)?.[1] ?? "";
  const names = [...part.matchAll(/^\s+- (\S+)/gm)].flatMap(([, name]) => name ?? []);
  expect(names.length).toBeGreaterThan(20);
  const known = new Set([...runs.flatMap(([, , scenarios]) => scenarios), ...Object.keys(notApplicable)]);
  expect(names.filter((name) => !known.has(name) && !isElsewhere(name))).toEqual([]);
});

async function check(
  runner: Runner,
  revision: string,
  scenario: string,
): Promise<readonly Pick<Check, "id" | "status" | "message">[]> {
  const folder = mkdtempSync(join(work, "result-"));
  const driver = resolve("test/runtime/support/conformance-driver.mjs");
  const command = `"${process.execPath}" "${driver}" "${join(work, "out/server.mjs")}" "${join(work, "empty")}"`;
  const told = await run(runner, [
    "client",
    "--command",
    command,
    "--scenario",
    scenario,
    "--spec-version",
    revision,
    "-o",
    folder,
  ]);
  const [result] = readdirSync(folder, { withFileTypes: true }).filter((each) => each.isDirectory());
  if (result === undefined) throw new Error(`the runner checked nothing: ${told}`);
  const checks = JSON.parse(readFileSync(join(folder, result.name, "checks.json"), "utf8")) as {
    readonly id: string;
    readonly status: Check["status"];
    readonly errorMessage?: string;
  }[];
  return checks.map(({ id, status, errorMessage = "" }) => ({ id, status, message: errorMessage }));
}
