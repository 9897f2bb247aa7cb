import type { InfoDiagnostic } from "../host/info.js";
import type { AgentManifest, Manifest } from "./schema.js";

/**
 * What an emitted bundle hands to the runtime: the manifest, and the code that the manifest's ids name.
 * Built by `compiler/emit`, read by `runtime/host`; also what `bdk dev` swaps.
 */
export interface AgentBundle {
  readonly manifest: Manifest;
  /** By slug, then by entry id (`tool:approve_pr`): the default export of that module. */
  readonly definitions: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** By slug, then by `sha256` of the manifest's file entries: the bytes, base64 (seeds, skill siblings). */
  readonly files: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** What the compiler had to say, for `/v1/info`; absent in an emitted bundle. */
  readonly diagnostics?: readonly InfoDiagnostic[];
}

/** One agent of a bundle: the unit that a turn pins and that `bdk dev` swaps. */
export interface AgentGeneration {
  readonly agent: AgentManifest;
  readonly manifestHash: string;
  /** By entry id (`tool:approve_pr`): the default export of that module. */
  readonly definitions: Readonly<Record<string, unknown>>;
  /** By `sha256` of the manifest's file entries: the bytes, base64. */
  readonly files: Readonly<Record<string, string>>;
}
