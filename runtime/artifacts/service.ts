import type { Readable } from "node:stream";
import type { ArtifactRecord } from "../authoring/artifacts.js";
import { RuntimeError } from "../errors.js";
import type { Caller } from "../session/service.js";
import type { ArtifactStore, StoredArtifact } from "../storage/artifact-store.js";
import { select, toRecord } from "./api.js";
import { endingOf } from "./media-type.js";

export interface ArtifactQuery {
  readonly kind?: string;
  readonly sessionId?: string;
  /** Positive. */
  readonly limit?: number;
}

/** What a download consists of. */
export interface ArtifactContents {
  readonly stream: Readable;
  readonly contentType: string;
  /** Bytes. */
  readonly size: number;
  /** Without a path. */
  readonly fileName: string;
}

/** Artifacts as callers over HTTP may see them: their own, as with sessions. */
export interface ArtifactService {
  /** Newest-updated first. */
  list(caller: Caller, query: ArtifactQuery): readonly ArtifactRecord[];
  /** Throws `not_found` when there is no such artifact or it has no contents, `forbidden` when it is someone else's. */
  open(caller: Caller, id: string): Promise<ArtifactContents>;
}

export function createArtifactService(store: ArtifactStore): ArtifactService {
  const mayView = (caller: Caller, { owner }: StoredArtifact) => caller.seesAll || owner === caller.owner;
  return {
    list: (caller, query) =>
      select(
        store.all().filter((artifact) => mayView(caller, artifact)),
        query,
      ).map(toRecord),
    async open(caller, id) {
      const artifact = store.get(id);
      if (artifact === undefined) throw new RuntimeError("not_found", `no artifact ${id}`);
      if (!mayView(caller, artifact)) throw new RuntimeError("forbidden", "this artifact belongs to someone else");
      const stream = await store.read(artifact);
      if (stream === undefined) throw new RuntimeError("not_found", `artifact ${id} has no contents`);
      const { contentType = "application/octet-stream", size = 0, key, fileName } = artifact;
      return { stream, contentType, size, fileName: fileName ?? nameOf(key, contentType) };
    },
  };
}

/** The key as a file name, with the ending that the media type asks for. */
function nameOf(key: string, contentType: string): string {
  const base = key.slice(key.lastIndexOf("/") + 1) || "artifact";
  return /\.[a-z0-9]{1,8}$/i.test(base) ? base : `${base}${endingOf(contentType)}`;
}
