import fs from "node:fs";
import path from "node:path";
import type { AgentGeneration } from "../manifest/bundle.js";
import { containedPath, openFile } from "../storage/paths.js";

/** The journal's path, both among the deployment's files and in a workspace. */
const journalPath = "memory/journal.md";
/** Most bytes that a workspace gets: 256 KiB, the newest entries. */
const maxBytes = 256 * 1024;

/** Brings the memory journal into workspaces. Decision 39. */
export interface MemoryCopies {
  /** Puts the journal as it is now into a workspace, unless it is there already or the agent has no memory hook. */
  lay(dir: string): void;
}

export function createMemoryCopies(stateDir: string, generation: () => AgentGeneration): MemoryCopies {
  const journal = path.join(stateDir, "files", journalPath);
  /** What each workspace has, by size: a journal only grows. */
  const laid = new Map<string, number>();
  let known: { readonly from: AgentGeneration; readonly isKept: boolean } | undefined;

  function keepsMemory(): boolean {
    const from = generation();
    if (known?.from !== from) known = { from, isKept: hasMemoryHook(from) };
    return known.isKept;
  }

  return {
    lay(dir) {
      if (!keepsMemory()) return;
      const size = fs.statSync(journal, { throwIfNoEntry: false })?.size ?? 0;
      if (size === 0 || laid.get(dir) === size) return;
      const fd = openFile(containedPath(dir, journalPath, true), "replace");
      try {
        fs.writeFileSync(fd, newest(journal, size));
      } finally {
        fs.closeSync(fd);
      }
      laid.set(dir, size);
    },
  };
}

function hasMemoryHook({ agent, definitions }: AgentGeneration): boolean {
  return agent.hooks.some(({ id }) => {
    const definition = definitions[id];
    return (
      typeof definition === "object" && definition !== null && "pack" in definition && definition.pack === "memory"
    );
  });
}

/** The end of the journal, from the first whole entry on. */
function newest(journal: string, size: number): Uint8Array {
  const bytes = Buffer.alloc(Math.min(size, maxBytes));
  const fd = fs.openSync(journal, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
  let read: number;
  try {
    read = fs.readSync(fd, bytes, 0, bytes.length, Math.max(0, size - maxBytes));
  } finally {
    fs.closeSync(fd);
  }
  const tail = bytes.subarray(0, read);
  if (size <= maxBytes) return tail;
  const entry = tail.indexOf("\n## ");
  return entry === -1 ? tail : tail.subarray(entry + 1);
}
