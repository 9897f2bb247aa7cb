import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

/**
 * Reads the lines that somebody pastes until one is taken; blank ones are passed over.
 *
 * @param take whether a line was what is waited for
 * @param refused told each time it was not
 * @returns how to read no more
 */
export function readPasted(input: Readable, take: (line: string) => boolean, refused: () => void): () => void {
  const lines = createInterface({ input });
  lines.on("line", (line) => {
    const text = line.trim();
    if (text === "") return;
    if (take(text)) lines.close();
    else refused();
  });
  // Where nothing can be read, nothing is pasted: the login may come back all the same.
  lines.on("error", () => lines.close());
  return () => lines.close();
}
