import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createArtifactStore } from "../../runtime/storage/artifact-store.js";
import { createIds } from "../../runtime/storage/ids.js";
import { tempDir } from "./support/sessions.js";
import { bundleWorker } from "./support/worker.js";

test("a tag that the disk refuses leaves nothing, and the next one goes through when there is room", async () => {
  const root = tempDir();
  const worker = await bundleWorker("artifact-disk-worker");
  const { stdout } = await promisify(execFile)("sh", [
    "-c",
    'ulimit -f 300; exec "$0" "$@"',
    process.execPath,
    worker,
    root,
  ]);
  const { kept, refused, known } = JSON.parse(stdout) as { kept: string[]; refused: string; known: number };
  expect(refused).toBe("storage_unavailable");
  expect(kept.length).toBeGreaterThan(2);
  expect(known).toBe(kept.length);
  expect(readdirSync(join(root, "artifacts/contents"))).toHaveLength(kept.length);
  const store = createArtifactStore(root, createIds(Date.now), Date.now);
  expect(store.all().map(({ key }) => key)).toEqual([...kept].reverse());
  await store.put({ kind: "k", key: "room", title: "t", owner: "a:b" }, 1000);
  const again = createArtifactStore(root, createIds(Date.now), Date.now);
  expect(again.all()[0]?.key).toBe("room");
});
