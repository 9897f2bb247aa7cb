/** The emitted server keeps V8's code cache in its state root, trusts it only when it is whole and its own, and works without. */
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listeningUrl, runCommand, startServer } from "../bench/measure.mjs";

const work = realpathSync(mkdtempSync(join(tmpdir(), "bdk-code-")));
const server = join(work, "out/server.mjs");
const state = join(work, "state");
const cache = join(state, "code-cache/core.bin");

beforeAll(async () => {
  const project = resolve("fixtures/projects/pr-approver");
  const out = join(work, "out");
  await runCommand([process.execPath, resolve("dist/cli/bdk.js"), "build", "--dir", project, "--out", out]);
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** Starts, asks for the catalog, stops. */
async function visit(): Promise<string> {
  const flags = ["--port", "0", "--json", "--mode", "single", "--model", "offline", "--state-root", state];
  const running = await startServer([process.execPath, server, ...flags], listeningUrl, { cwd: work });
  const answer = await (await fetch(`${running.value}/v1/tools`)).text();
  await running.stop();
  return answer;
}

test("the first start writes it, private, and later ones leave it as it is", async () => {
  const first = await visit();
  expect(statSync(cache).mode & 0o777).toBe(0o600);
  const written = readFileSync(cache);
  expect(await visit()).toBe(first);
  expect(readFileSync(cache).equals(written)).toBe(true);
});

test.each([
  ["cut short", (bytes: Buffer) => bytes.subarray(0, bytes.length - 1000)],
  ["empty", () => Buffer.alloc(0)],
  [
    "damaged in the middle",
    (bytes: Buffer) => {
      const damaged = Buffer.from(bytes);
      damaged[bytes.length >> 1] = ~(damaged[bytes.length >> 1] ?? 0) & 0xff;
      return damaged;
    },
  ],
  ["of another text", (bytes: Buffer) => Buffer.concat([Buffer.alloc(32, 7), bytes.subarray(32)])],
])("one that is %s is not used, and replaced", async (_name, spoil) => {
  const answer = await visit();
  const spoiled = spoil(readFileSync(cache));
  writeFileSync(cache, spoiled);
  expect(await visit()).toBe(answer);
  expect(readFileSync(cache).equals(spoiled)).toBe(false);
});

test("--check and --help leave no trace", async () => {
  rmSync(state, { recursive: true, force: true });
  for (const flag of ["--check", "--help"]) {
    await runCommand([process.execPath, server, flag, "--state-root", state], { cwd: work });
  }
  expect(existsSync(state)).toBe(false);
});
