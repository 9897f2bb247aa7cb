import { randomUUID } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import type { Readable } from "node:stream";
import type { ArtifactRecord } from "../authoring/artifacts.js";
import type { JsonValue } from "../session/event.js";
import { makeDir, privateFile, readIfThere, replaceFile, storageError, syncPath } from "./files.js";

/** An artifact as it is kept: what callers see, whose it is, and where its bytes are. */
export interface StoredArtifact extends ArtifactRecord {
  /** `kind:id` of the principal who may see it. */
  readonly owner: string;
  /** Name of the file that holds the contents. */
  readonly blob?: string;
  /** What a download is called. */
  readonly fileName?: string;
}

/** What to keep under a kind and key. */
export interface ArtifactDraft {
  readonly kind: string;
  readonly key: string;
  readonly title: string;
  readonly owner: string;
  readonly data?: JsonValue;
  readonly sessionId?: string;
  readonly turnId?: string;
  readonly contents?: { readonly bytes: Uint8Array; readonly contentType: string; readonly fileName?: string };
}

/** Artifacts of one agent. */
export interface ArtifactStore {
  /** Creates or replaces the artifact of that kind and key; on disk when it resolves. Then only the `max` newest stay. */
  put(draft: ArtifactDraft, max: number): Promise<StoredArtifact>;
  find(kind: string, key: string): StoredArtifact | undefined;
  get(id: string): StoredArtifact | undefined;
  /** Newest-updated first. */
  all(): readonly StoredArtifact[];
  /** The contents; `undefined` when there are none. */
  read(artifact: StoredArtifact): Promise<Readable | undefined>;
}

type Line = { readonly artifact: StoredArtifact } | { readonly gone: string };

/** Lines beyond the live ones before the journal is written anew. */
const slack = 256;

/**
 * Artifacts as plain files below `artifacts/`: `index.ndjson`, read at first use, and a file for each one's contents.
 * Contents are on disk before the line that names them; files that no line names are removed at the next start.
 */
export function createArtifactStore(
  stateRoot: string,
  makeId: (prefix: string) => string,
  now: () => number,
): ArtifactStore {
  const dir = path.join(stateRoot, "artifacts");
  const journal = path.join(dir, "index.ndjson");
  const blobs = path.join(dir, "contents");
  /** In order of their last update. */
  let known: Map<string, StoredArtifact> | undefined;
  const ids = new Map<string, string>();
  let lines = 0;
  let queue: Promise<unknown> = Promise.resolve();
  const keyOf = ({ kind, key }: { readonly kind: string; readonly key: string }) => JSON.stringify([kind, key]);

  function artifacts(): Map<string, StoredArtifact> {
    if (known !== undefined) return known;
    const loaded = new Map<string, StoredArtifact>();
    const text = readIfThere(journal) ?? "";
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    if (whole.length < text.length) fs.truncateSync(journal, Buffer.byteLength(whole));
    for (const line of whole.split("\n")) {
      if (line === "") continue;
      lines += 1;
      keep(loaded, JSON.parse(line) as Line);
    }
    if (text !== "") removeStrays(loaded);
    known = loaded;
    return loaded;
  }

  function keep(into: Map<string, StoredArtifact>, line: Line): void {
    const id = "gone" in line ? line.gone : line.artifact.id;
    const earlier = into.get(id);
    if (earlier !== undefined) ids.delete(keyOf(earlier));
    into.delete(id);
    if ("gone" in line) return;
    into.set(id, line.artifact);
    ids.set(keyOf(line.artifact), id);
  }

  function removeStrays(loaded: ReadonlyMap<string, StoredArtifact>): void {
    if (!fs.existsSync(blobs)) return;
    const named = new Set([...loaded.values()].map(({ blob }) => blob));
    for (const file of fs.readdirSync(blobs)) if (!named.has(file)) fs.rmSync(path.join(blobs, file), { force: true });
  }

  async function write(added: readonly Line[]): Promise<void> {
    const size = fs.statSync(journal, { throwIfNoEntry: false })?.size ?? 0;
    try {
      const text = added.map((line) => `${JSON.stringify(line)}\n`).join("");
      await fs.promises.appendFile(journal, text, { mode: privateFile, flush: true });
    } catch (error) {
      // Half a line, left by a full disk, would run into the next one.
      if (fs.existsSync(journal)) fs.truncateSync(journal, size);
      throw error;
    }
    if (lines === 0) await syncPath(dir);
    lines += added.length;
  }

  function compact(live: ReadonlyMap<string, StoredArtifact>): void {
    if (lines <= live.size * 2 + slack) return;
    replaceFile(journal, [...live.values()].map((artifact) => `${JSON.stringify({ artifact })}\n`).join(""));
    lines = live.size;
  }

  async function saveContents(bytes: Uint8Array): Promise<string> {
    makeDir(blobs);
    const blob = randomUUID();
    await fs.promises.writeFile(path.join(blobs, blob), bytes, { mode: privateFile, flush: true });
    await syncPath(blobs);
    return blob;
  }

  async function put(draft: ArtifactDraft, max: number): Promise<StoredArtifact> {
    const { contents, ...facts } = draft;
    makeDir(dir);
    const live = artifacts();
    const earlier = live.get(ids.get(keyOf(draft)) ?? "");
    const at = new Date(now()).toISOString();
    const { fileName } = contents ?? {};
    const artifact: StoredArtifact = {
      id: earlier?.id ?? makeId("art_"),
      ...facts,
      ...(contents && {
        contentType: contents.contentType,
        size: contents.bytes.byteLength,
        blob: await saveContents(contents.bytes),
        ...(fileName !== undefined && { fileName }),
      }),
      createdAt: earlier?.createdAt ?? at,
      updatedAt: at,
    };
    const others = [...live.values()].filter(({ id }) => id !== artifact.id);
    const evicted = others.slice(0, Math.max(0, others.length + 1 - max));
    const added: readonly Line[] = [{ artifact }, ...evicted.map(({ id }) => ({ gone: id }))];
    try {
      await write(added);
    } catch (error) {
      if (artifact.blob !== undefined) await fs.promises.rm(path.join(blobs, artifact.blob), { force: true });
      throw error;
    }
    for (const line of added) keep(live, line);
    for (const { blob } of earlier === undefined ? evicted : [earlier, ...evicted]) {
      if (blob !== undefined) await fs.promises.rm(path.join(blobs, blob), { force: true });
    }
    compact(live);
    return artifact;
  }

  return {
    put(draft, max) {
      const done = queue
        .then(() => put(draft, max))
        .catch((error: unknown) => {
          throw storageError(error);
        });
      queue = done.catch(() => undefined);
      return done;
    },
    find: (kind, key) => artifacts().get(ids.get(keyOf({ kind, key })) ?? ""),
    get: (id) => artifacts().get(id),
    all: () => [...artifacts().values()].reverse(),
    async read({ blob }) {
      if (blob === undefined) return undefined;
      try {
        // Opened before it is answered with, so that an eviction in between is a clean 404.
        const handle = await fs.promises.open(path.join(blobs, blob), "r");
        return handle.createReadStream();
      } catch (error) {
        if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
        throw storageError(error);
      }
    },
  };
}
