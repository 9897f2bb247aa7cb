import { createHash } from "node:crypto";
import { compareBytes } from "../bytes.js";

/** A copy with the keys of every object in byte order, and without absent fields: the same value, the same bytes. */
export function sortKeys<T>(value: T): T {
  return sorted(value) as T;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => compareBytes(a, b)).map(([key, inner]) => [key, sorted(inner)]));
}

/** Hex SHA-256. */
export function sha256(contents: string | Uint8Array): string {
  return createHash("sha256").update(contents).digest("hex");
}

/** The manifest as it is written: two spaces, one final newline. */
export function printManifest(manifest: object): string {
  return `${JSON.stringify(sortKeys(manifest), null, 2)}\n`;
}
