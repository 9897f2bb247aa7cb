#!/usr/bin/env node
/**
 * `npm test`: builds, lints, type-checks, then runs the tests. Every step runs even when an earlier one failed, so one
 * run tells all. The last line is the sum of checks and tests; the exit code is 1 when anything failed.
 *
 *   npm test                    everything
 *   npm test -- test/cli        the checks, and only these tests
 */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const bin = (name) => join(root, "node_modules", name);

/** Checks that pass or fail as a whole, in this order. */
const checks = [
  { name: "build", command: [join(root, "scripts/build.mjs")] },
  { name: "lint and format", command: [bin("@biomejs/biome/bin/biome"), "ci", "--error-on-warnings", "."] },
  { name: "types", command: [bin("typescript/bin/tsc"), "--noEmit"] },
  { name: "types of the playground", command: [bin("typescript/bin/tsc"), "--noEmit", "-p", "playground"] },
  { name: "types of the example bots", command: [bin("typescript/bin/tsc"), "-p", "fixtures/projects/tsconfig.json"] },
];

function run(command) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, command, { cwd: root, stdio: "inherit" });
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
}

let passed = 0;
let failed = 0;
for (const { name, command } of checks) {
  console.log(`\n=== ${name}`);
  if ((await run(command)) === 0) passed += 1;
  else {
    failed += 1;
    console.error(`${name}: failed`);
  }
}

console.log("\n=== tests");
const folder = await mkdtemp(join(tmpdir(), "bdk-test-"));
try {
  const summaryFile = join(folder, "summary.json");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${summaryFile}`];
  const code = await run([bin("vitest/vitest.mjs"), "run", ...reporters, ...process.argv.slice(2)]);
  const summary = JSON.parse(await readFile(summaryFile, "utf8").catch(() => "{}"));
  passed += summary.numPassedTests ?? 0;
  // Files that could not even be loaded have no failed test of their own, and errors outside any test belong to none.
  const unloaded = (summary.testResults ?? []).filter(
    ({ status, assertionResults }) => status === "failed" && !assertionResults.some((each) => each.status === "failed"),
  );
  failed += (summary.numFailedTests ?? 0) + unloaded.length;
  if (code !== 0 && failed === 0) failed = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}

process.exitCode = failed === 0 ? 0 : 1;
console.log(`${passed} passed, ${failed} failed`);
