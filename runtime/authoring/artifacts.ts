/** `bot/artifacts.ts`: durable things that sessions leave behind, and how to tag them. */
import type { JsonValue } from "../session/event.js";
import type { StandardSchema } from "./schema.js";

/** A kind of artifact. */
export interface ArtifactKind {
  /** What such an artifact is; told to the model when `agentTool` is on. */
  readonly description: string;
  /** Checks `data`; what it yields, defaults applied, is stored. */
  readonly schema?: StandardSchema | undefined;
}

/** The registry of kinds. With kinds declared, others are refused; with none, any kind goes. */
export interface ArtifactsConfig {
  readonly kinds?: Readonly<Record<string, ArtifactKind>> | undefined;
  /** Gives the model a `tag_artifact` tool; needs at least one kind. Default false. */
  readonly agentTool?: boolean | undefined;
  /** How many to keep; the longest-untouched go first. Default 1000. */
  readonly max?: number | undefined;
}

/** What `defineArtifacts` returns. */
export type ArtifactsDefinition = ArtifactsConfig & { readonly __agentServe: "artifacts" };

/** What to tag. A second `tag` with the same kind and key replaces the first. */
export interface ArtifactTag {
  /** Default `"artifact"` when no kinds are declared, the only kind when one is. */
  readonly kind?: string;
  /** Names it among its kind, up to 512 characters. */
  readonly key: string;
  /** What people read in lists, up to 512 characters. */
  readonly title: string;
  /** JSON up to 256 KiB, checked by the kind's schema. */
  readonly data?: unknown;
  /** The contents themselves, up to 64 MiB. A text is kept as UTF-8. */
  readonly contents?: string | Uint8Array;
  /** Or a file of the session's workspace to keep a copy of: a relative path. */
  readonly file?: string;
  /** Media type of the contents. Default: by the file's ending, `text/plain` for a text, else `application/octet-stream`. */
  readonly contentType?: string;
}

/** A tagged artifact. Instants are ISO-8601. */
export interface ArtifactRecord {
  readonly id: string;
  readonly kind: string;
  readonly key: string;
  readonly title: string;
  readonly data?: JsonValue;
  readonly sessionId?: string;
  readonly turnId?: string;
  readonly contentType?: string;
  /** Bytes of the contents, when there are any. */
  readonly size?: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** `ctx.artifacts`. */
export interface ArtifactsApi {
  /** Creates or replaces the artifact of that kind and key. Throws when the kind or its data is refused. */
  tag(artifact: ArtifactTag): Promise<ArtifactRecord>;
  /** Newest first. */
  list(filter?: {
    readonly kind?: string;
    readonly sessionId?: string;
    readonly limit?: number;
  }): Promise<readonly ArtifactRecord[]>;
}

/**
 * Declares the kinds of artifacts.
 *
 * @example export default defineArtifacts({ kinds: { report: { description: "A weekly report." } }, agentTool: true });
 */
export function defineArtifacts(config: ArtifactsConfig): ArtifactsDefinition {
  return { ...config, __agentServe: "artifacts" };
}
