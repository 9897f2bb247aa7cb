/** Linked project code, and what stays outside of it. */
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
