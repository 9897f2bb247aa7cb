import type { Manifest } from "../../runtime/manifest/schema.js";

/** A package that stays outside the bundle, and is copied beside it with all it depends on. */
export interface ExternalPackage {
  readonly name: string;
  readonly version: string;
  /** Absolute folder of the package. */
  readonly dir: string;
  /** Absolute folder from which project code finds it. */
  readonly from: string;
  /** Why it can't be linked: `native addon`, `reads files beside itself`. */
  readonly reason: string;
  /** Specifiers that ES modules import from it: loaded before project code runs, for `import` is not synchronous. */
  readonly imports: readonly string[];
}

/** A file that project code finds relative to itself; it is written below `assets/`, beside the bundle. */
export interface BesideFile {
  /** POSIX path below `assets/`, such as `bot/tools/prices.csv`. */
  readonly path: string;
  /** Absolute path of the file. */
  readonly file: string;
}

/**
 * All project code as one text: the body of `async (__bdk) => { … }`. It hands definitions by slug and entry id to
 * `__bdk.provide`. What is evaluated, served, swapped in dev and printed into `server.mjs` is this same text.
 */
export interface ProjectCode {
  readonly text: string;
  /** Source map (v3 JSON) of `text`; sources are POSIX paths relative to the project root. */
  readonly map: string;
  readonly externals: readonly ExternalPackage[];
  readonly beside: readonly BesideFile[];
  /** First part of a module's key (`""`, `node_modules/@acme/ui`) → absolute folder it stands for; never printed. */
  readonly folders: Readonly<Record<string, string>>;
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
