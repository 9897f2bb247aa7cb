import { createHash } from "node:crypto";
import { compareBytes } from "../bytes.js";

/** A copy with the keys of every object in byte order, and without absent fields: the same value, the same bytes. */
export function sortKeys<T>(value: T): T {
  return sorted(value) as T;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  // Entries, not assignments: a field may be called `__proto__`.
  const entries: [string, unknown][] = [];
  for (const key of sortedNames(Object.keys(value))) {
    const inner: unknown = Reflect.get(value, key);
    if (inner !== undefined) entries.push([key, sorted(inner)]);
  }
  return Object.fromEntries(entries);
}

/** Within ASCII, the order of code units is the order of bytes, and the engine's own sort is much the faster. */
function sortedNames(names: string[]): string[] {
  return names.some((name) => /[^\0-\x7f]/.test(name)) ? names.sort(compareBytes) : names.sort();
}

/** Hex SHA-256. */
export function sha256(contents: string | Uint8Array): string {
  return createHash("sha256").update(contents).digest("hex");
}

/** The manifest as it is written: two spaces, one final newline. Its keys are in order since it was made. */
export function printManifest(manifest: object): string {
  return `${JSON.stringify(manifest, null, 2)}\n`;
}
