import { createHash } from "node:crypto";
import { cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { bdk } from "./bdk.js";

const projects = fileURLToPath(new URL("../../fixtures/projects/", import.meta.url));
const shuffle = pathToFileURL(fileURLToPath(new URL("shuffle-fs.mjs", import.meta.url))).href;

async function temporary(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "bdk-reproducible-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** SHA-256 of every file, by its path. */
async function digests(folder: string): Promise<Record<string, string>> {
  const names = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((each) => each.isFile());
  const files = names.map((each) => join(each.parentPath, each.name)).sort();
  const pairs = files.map(async (file) => {
    const hash = createHash("sha256").update(await readFile(file));
    return [file.slice(folder.length), hash.digest("hex")] as const;
  });
  return Object.fromEntries(await Promise.all(pairs));
}

test.each(["office", "newsroom", "pr-approver", "reports"])(
  "%s comes out the same from two folders whose disks list names in other orders",
  async (name) => {
    const build = async (seed: string) => {
      const dir = await temporary();
      const out = await temporary();
      // Beside its siblings: some are made of them.
      await cp(projects, dir, { recursive: true, filter: (source) => !/[\\/](?:dist|\.bdk|\.cache)$/.test(source) });
      const env = { NODE_OPTIONS: `--import ${shuffle}`, SHUFFLE_SEED: seed };
      const { code, stderr } = await bdk(["build", "--dir", join(dir, name), "--out", out], { env });
      expect(stderr).not.toContain("error");
      expect(code).toBe(0);
      return digests(out);
    };
    const [first, second] = [await build("1"), await build("4711")];
    expect(second).toEqual(first);
    expect(Object.keys(first)).toContain("/server.mjs");
  },
  60_000,
);
