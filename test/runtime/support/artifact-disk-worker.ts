/** Tags artifacts until the file system refuses (the parent sets a file size limit); says which ones were kept. */
import { createArtifactStore } from "../../../runtime/storage/artifact-store.js";
import { createIds } from "../../../runtime/storage/ids.js";

const [root = ""] = process.argv.slice(2);
const store = createArtifactStore(root, createIds(Date.now), Date.now);
const kept: string[] = [];
let refused: unknown;
while (refused === undefined) {
  const key = `key-${kept.length}`;
  const contents = { bytes: Buffer.from(key), contentType: "text/plain" };
  try {
    await store.put({ kind: "k", key, title: "t", owner: "a:b", data: "x".repeat(20_000), contents }, 1000);
    kept.push(key);
  } catch (error) {
    refused = error instanceof Error && "code" in error ? error.code : String(error);
  }
}
process.stdout.write(JSON.stringify({ kept, refused, known: store.all().length }));
