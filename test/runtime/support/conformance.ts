/** The official MCP conformance runner, in both versions, as a process of its own. */
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

export const runners = {
  "0.1.16": "node_modules/@modelcontextprotocol/conformance/dist/index.js",
  "0.2.0-alpha.12": "node_modules/mcp-conformance-next/dist/index.js",
} as const;

export interface Check {
  readonly scenario: string;
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  readonly message: string;
}

/** Runs every scenario that a revision has against a server; resolves with all checks. */
export async function runConformance(runner: keyof typeof runners, revision: string, url: string): Promise<Check[]> {
  const folder = mkdtempSync(join(tmpdir(), "bdk-conformance-"));
  try {
    const output = await run(runner, [
      "server",
      "--url",
      url,
      "--suite",
      "all",
      "--spec-version",
      revision,
      "-o",
      folder,
    ]);
    const checks = readdirSync(folder, { withFileTypes: true })
      .filter((each) => each.isDirectory())
      .flatMap(({ name }) => readChecks(join(folder, name), name));
    if (checks.length === 0) throw new Error(`the runner checked nothing: ${output}`);
    return checks;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Scenarios that a runner has for servers of a revision, by its own list. */
export async function listScenarios(runner: keyof typeof runners, revision: string): Promise<string[]> {
  const output = await run(runner, ["list"]);
  const servers = output.slice(output.indexOf("Server scenarios"), output.indexOf("Client scenarios"));
  const found = [...servers.matchAll(/^\s+- (\S+) \[([^\]]*)\]/gm)];
  return found
    .flatMap(([, name, revisions]) => (name && revisions?.split(",").includes(revision) ? [name] : []))
    .sort();
}

/** `server-<scenario>-<time>/checks.json` */
function readChecks(folder: string, name: string): Check[] {
  const scenario = name.replace(/^server-/, "").replace(/-\d{4}-\d{2}-\d{2}T.*$/, "");
  const checks = JSON.parse(readFileSync(join(folder, "checks.json"), "utf8")) as {
    id: string;
    status: Check["status"];
    errorMessage?: string;
  }[];
  return checks.map(({ id, status, errorMessage = "" }) => ({ scenario, id, status, message: errorMessage }));
}

/** Exit codes are not looked at: the runner's own summary knows nothing of what does not apply. */
export function run(runner: keyof typeof runners, args: readonly string[]): Promise<string> {
  const hooks = pathToFileURL(resolve("test/runtime/support/node20-hooks.mjs")).href;
  const shim = `data:text/javascript,import { register } from "node:module"; register("${hooks}");`;
  const isOld = Number(process.versions.node.split(".")[0]) < 22;
  const argv = [...(isOld ? ["--import", shim] : []), resolve(runners[runner]), ...args];
  return new Promise((done) => {
    execFile(process.execPath, argv, { maxBuffer: 64 * 1024 * 1024 }, (_error, stdout, stderr) =>
      done(stdout + stderr),
    );
  });
}
