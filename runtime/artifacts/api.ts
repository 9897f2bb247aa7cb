import type { ArtifactRecord, ArtifactsApi, ArtifactTag } from "../authoring/artifacts.js";
import type { SessionEventData } from "../session/event.js";
import type { SessionRecord } from "../session/ports.js";
import type { ArtifactDraft, ArtifactStore, StoredArtifact } from "../storage/artifact-store.js";
import type { ArtifactKinds } from "./kinds.js";
import { isMediaType, mediaTypeOf } from "./media-type.js";

/** Most bytes of an artifact's contents: 64 MiB. */
const maxContents = 64 * 1024 * 1024;
/** Most characters of a key or title. */
const maxText = 512;

export interface ArtifactSources {
  readonly store: ArtifactStore;
  readonly kinds: () => ArtifactKinds;
  /** Reads a file of the session's workspace, contained in it. */
  readonly readFile: (record: SessionRecord | undefined, file: string, limit: number) => Promise<Uint8Array>;
  /** Records `artifact.tagged` on the session's stream. */
  readonly announce: (
    sessionId: string,
    turnId: string | undefined,
    data: SessionEventData["artifact.tagged"],
  ) => Promise<void>;
}

/** Who tags: a session, in a turn or not; or host code outside any. */
export interface ArtifactScope {
  readonly record: SessionRecord | undefined;
  readonly turnId: string | undefined;
  /** Of the mounted extension whose code tags. */
  readonly namespace?: string | undefined;
  /** Refuses to replace what someone else owns; for tags that a model makes. */
  readonly ownOnly?: boolean;
}

/** Owner of what host code tags outside any session. */
const hostOwner = "app:host";

/** `ctx.artifacts`, bound to one session. */
export function createArtifactsApi(sources: ArtifactSources, scope: ArtifactScope): ArtifactsApi {
  const { store, announce } = sources;
  const { record, turnId } = scope;
  return {
    async tag(artifact) {
      const draft = await toDraft(sources, scope, artifact);
      const stored = await store.put(draft, sources.kinds().max);
      if (record !== undefined) {
        const { id, kind, key, title } = stored;
        await announce(record.id, turnId, { id, kind, key, title });
      }
      return toRecord(stored);
    },
    async list(filter = {}) {
      return select(store.all(), filter).map(toRecord);
    },
  };
}

/** Those that a filter lets through, in order. */
export function select(
  artifacts: readonly StoredArtifact[],
  { kind, sessionId, limit = Number.POSITIVE_INFINITY }: NonNullable<Parameters<ArtifactsApi["list"]>[0]>,
): readonly StoredArtifact[] {
  if (limit !== Number.POSITIVE_INFINITY && !(Number.isInteger(limit) && limit > 0)) {
    throw new Error("artifacts.list: limit must be a positive whole number");
  }
  return artifacts
    .filter((each) => kind === undefined || each.kind === kind)
    .filter((each) => sessionId === undefined || each.sessionId === sessionId)
    .slice(0, limit);
}

/** What callers and authored code see of an artifact. */
export function toRecord({ owner: _, blob: __, fileName: ___, ...artifact }: StoredArtifact): ArtifactRecord {
  return artifact;
}

async function toDraft(sources: ArtifactSources, scope: ArtifactScope, artifact: ArtifactTag): Promise<ArtifactDraft> {
  const { record, turnId, ownOnly = false } = scope;
  const kinds = sources.kinds();
  const { kind: named = kinds.fallback, key, title } = artifact;
  if (named === undefined) throw new Error("artifacts.tag: say which kind it is");
  requireText("kind", named);
  requireText("key", key);
  requireText("title", title);
  const kind = kinds.resolve(named, scope.namespace);
  const owner = record?.owner ?? hostOwner;
  const earlier = sources.store.find(kind, key);
  if (ownOnly && earlier !== undefined && earlier.owner !== owner) {
    throw new Error(`the key "${key}" of kind "${kind}" is taken; choose another one`);
  }
  const data = await kinds.parse(kind, artifact.data);
  const contents = await contentsOf(sources, record, artifact);
  return {
    kind,
    key,
    title,
    owner,
    ...(data !== undefined && { data }),
    ...(record && { sessionId: record.id }),
    ...(turnId !== undefined && { turnId }),
    ...(contents && { contents }),
  };
}

function requireText(field: string, value: unknown): void {
  if (typeof value !== "string" || value.trim() === "" || value.length > maxText) {
    throw new Error(`artifacts.tag: ${field} must be a text of 1 to ${maxText} characters`);
  }
}

async function contentsOf(
  { readFile }: ArtifactSources,
  record: SessionRecord | undefined,
  { contents, file, contentType }: ArtifactTag,
): Promise<ArtifactDraft["contents"]> {
  if (contentType !== undefined && !isMediaType(contentType)) {
    throw new Error(`artifacts.tag: contentType must be a media type such as text/markdown, not "${contentType}"`);
  }
  if (file !== undefined) {
    if (contents !== undefined) throw new Error("artifacts.tag: give either contents or file, not both");
    const bytes = await readFile(record, file, maxContents);
    const fileName = file.slice(file.lastIndexOf("/") + 1);
    return { bytes, contentType: contentType ?? mediaTypeOf(fileName), fileName };
  }
  if (contents === undefined) return undefined;
  const isText = typeof contents === "string";
  const bytes = isText ? Buffer.from(contents) : new Uint8Array(contents);
  if (bytes.byteLength > maxContents) throw new Error(`artifacts.tag: contents may take ${maxContents} bytes`);
  return { bytes, contentType: contentType ?? (isText ? "text/plain; charset=utf-8" : "application/octet-stream") };
}
