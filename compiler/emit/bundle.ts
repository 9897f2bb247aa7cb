import type { Manifest } from "../../runtime/manifest/schema.js";

/**
 * All project code as one text: the body of `async (__bdk) => { … }`. It returns definitions by slug and entry id.
 * What is evaluated, served, swapped in dev and printed into `server.mjs` is this same text.
 */
export interface ProjectCode {
  readonly text: string;
  /** Source map (v3 JSON) of `text`; sources are POSIX paths relative to the project root. */
  readonly map: string;
  /** Packages and assets that stay outside: specifier → where they were resolved, and why. */
  readonly externals: readonly { readonly specifier: string; readonly name: string; readonly version: string; readonly dir: string; readonly reason: string }[];
}

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
