import type { Manifest } from "../../runtime/manifest/schema.js";
import type { ProjectCode } from "../link/project-code.js";

export type { ProjectCode };

/** A file to write, path relative to the output folder. */
export interface EmittedFile {
  readonly path: string;
  readonly contents: string | Uint8Array;
}

/** The pipeline's last value: everything in memory; the CLI writes it. */
export interface Bundle {
  readonly manifest: Manifest;
  readonly project: ProjectCode;
  /** By slug, then sha256: base64 bytes of seeds and skill siblings. */
  readonly blobs: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** `server.mjs`, `server.mjs.map`, `manifest.json`, copied externals; empty unless `until: "bundle"`. */
  readonly files: readonly EmittedFile[];
}
