/** The official conformance runner against the emitted server of `fixtures/projects/mcp-tools`. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listeningUrl, runCommand, startServer } from "../bench/measure.mjs";
import { type Check, listScenarios, runConformance } from "./support/conformance.js";

const minutes = 60_000;
const work = mkdtempSync(join(tmpdir(), "bdk-mcp-"));
let server: Awaited<ReturnType<typeof startServer>>;
let url: string;

beforeAll(async () => {
  const out = join(work, "out");
  await runCommand([
    process.execPath,
    resolve("dist/cli/bdk.js"),
    "build",
    "--dir",
    resolve("fixtures/projects/mcp-tools"),
    "--out",
    out,
  ]);
  server = await startServer(
    [process.execPath, join(out, "server.mjs"), "--port", "0", "--json", "--state-root", join(work, "state")],
    listeningUrl,
    { cwd: work, env: { ...process.env, XDG_CACHE_HOME: join(work, "cache") } },
  );
  url = `${server.value}/mcp-tools/v1/mcp/tools`;
}, 2 * minutes);

afterAll(async () => {
  await server.stop();
  rmSync(work, { recursive: true, force: true });
});

/** `scenario check` of the table in docs/reference/mcp.md. */
function notApplicable(): Set<string> {
  const page = readFileSync(resolve("docs/reference/mcp.md"), "utf8");
  const rows = page.slice(page.indexOf("## Conformance")).matchAll(/^\| `([^`]+)` \| (`.*?`) \| (.+) \|$/gm);
  return new Set(
    [...rows].flatMap(([, scenario, checks]) =>
      [...(checks ?? "").matchAll(/`([^`]+)`/g)].map(([, id]) => `${scenario} ${id}`),
    ),
  );
}

const runs = [
  ["0.1.16", "2025-06-18"],
  ["0.1.16", "2025-11-25"],
  ["0.2.0-alpha.12", "2025-06-18"],
  ["0.2.0-alpha.12", "2025-11-25"],
  ["0.2.0-alpha.12", "2026-07-28"],
] as const;

describe("conformance", () => {
  const failed = new Set<string>();
  const failedByOlder = new Set<string>();
  const passed = new Map<string, number>();

  it.each(runs)(
    "runner %s, revision %s: what applies passes",
    async (runner, revision) => {
      const checks = await runConformance(runner, revision, url);
      expect([...new Set(checks.map(({ scenario }) => scenario))].sort()).toEqual(
        await listScenarios(runner, revision),
      );
      const known = notApplicable();
      const bad = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
      for (const each of bad) failed.add(keyOf(each));
      if (runner === "0.1.16") for (const { scenario } of bad) failedByOlder.add(scenario);
      passed.set(`${runner} ${revision}`, checks.filter(({ status }) => status === "SUCCESS").length);
      expect(bad.filter((each) => !known.has(keyOf(each)))).toEqual([]);
    },
    3 * minutes,
  );

  it("fails no scenario of the older runner that the measured baseline does not list", () => {
    const baseline = readFileSync(
      resolve("../shared/vectors/mcp/conformance-0.1.16-tools-only-stateless.baseline.yml"),
      "utf8",
    );
    const listed = [...baseline.matchAll(/^ {2}- (\S+)$/gm)].map(([, scenario]) => scenario);
    expect([...failedByOlder].sort()).toEqual(listed.sort());
  });

  it("finds each entry of the list of what does not apply failing, and enough that passes", () => {
    expect([...failed].sort()).toEqual([...notApplicable()].sort());
    expect(Object.fromEntries(passed)).toEqual({
      "0.1.16 2025-06-18": 12,
      "0.1.16 2025-11-25": 18,
      "0.2.0-alpha.12 2025-06-18": 38,
      "0.2.0-alpha.12 2025-11-25": 51,
      "0.2.0-alpha.12 2026-07-28": 112,
    });
  });
});

function keyOf({ scenario, id }: Check): string {
  return `${scenario} ${id}`;
}
