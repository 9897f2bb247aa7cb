import type { Diagnostic } from "../diagnostics/diagnostic.js";
import type { Entry, Stray } from "./tree.js";

/** What a look at some folders brought: entries, files that are none, and what there is to say about them. */
export interface Found {
  readonly entries: readonly Entry[];
  readonly strays: readonly Stray[];
  readonly diagnostics: readonly Diagnostic[];
}

export const nothing: Found = { entries: [], strays: [], diagnostics: [] };

export function gather(parts: readonly Partial<Found>[]): Found {
  return {
    entries: parts.flatMap((part) => part.entries ?? []),
    strays: parts.flatMap((part) => part.strays ?? []),
    diagnostics: parts.flatMap((part) => part.diagnostics ?? []),
  };
}
