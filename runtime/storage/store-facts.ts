import path from "node:path";
import { RuntimeError } from "../errors.js";
import { readIfThere, replaceFile } from "./files.js";
import { bootId } from "./lock-holder.js";

/** Version of the layout on disk. A store with a higher one is refused. */
export const formatVersion = 1;

interface StoreFacts {
  readonly formatVersion: number;
  readonly bootId?: string;
  readonly clean: boolean;
}

/** `isCrashed`: the machine went down while the store was open, so unsynced writes may be missing. */
export function readFacts(dir: string): { readonly isCrashed: boolean } {
  const text = readIfThere(path.join(dir, "store.json"));
  if (text === undefined) return { isCrashed: false };
  const facts = parseFacts(text);
  if (facts === undefined) return { isCrashed: true };
  if (facts.formatVersion > formatVersion) {
    throw new RuntimeError(
      "storage_unavailable",
      `${dir} was written by a newer version of bdk (format ${facts.formatVersion}, this one reads ${formatVersion})`,
    );
  }
  return { isCrashed: !facts.clean && facts.bootId !== bootId() };
}

/** `undefined` when the file is not what was written: then nothing is known of how the store was left. */
function parseFacts(text: string): StoreFacts | undefined {
  try {
    const facts: unknown = JSON.parse(text);
    return typeof facts === "object" && facts !== null && "formatVersion" in facts ? (facts as StoreFacts) : undefined;
  } catch {
    return undefined;
  }
}

/** Says whether the store was closed in good order. */
export function writeFacts(dir: string, clean: boolean): void {
  const boot = bootId();
  const facts: StoreFacts = { formatVersion, ...(boot === undefined ? {} : { bootId: boot }), clean };
  replaceFile(path.join(dir, "store.json"), `${JSON.stringify(facts)}\n`);
}
