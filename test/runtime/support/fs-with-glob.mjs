/** `node:fs` with the one function that Node 20 has not. */
export * from "node:fs";

export function globSync() {
  throw new Error("fs.globSync is not there in Node 20");
}
