/**
 * `__bdk`: what the linked project text gets from outside. The same in the evaluation child, `bdk serve`, `bdk dev` and
 * `server.mjs`; only where things stand differs.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Definitions by slug, then by entry id. */
export type Definitions = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Where `import.meta` of a linked module points. */
export interface ModulePlace {
  readonly url: string;
  readonly filename: string;
  readonly dirname: string;
  resolve(specifier: string): string;
}

/** The parameter of the project's function; the linker writes these names. */
export interface ProjectScope {
  readonly require: ProjectRequire;
  /** A namespace that was imported before the text ran. */
  imported(specifier: string): unknown;
  meta(key: string): ModulePlace;
  /** Loads a native addon that stands beside the bundle. */
  native(key: string): unknown;
  /** Finds a module of `import("./" + name)` under another spelling of its path. */
  glob(modules: Readonly<Record<string, () => unknown>>, path: string): unknown;
  provide(definitions: Definitions): void;
}

/** `require` of what is outside the text: builtins, and packages beside the bundle. */
export interface ProjectRequire {
  (specifier: string): unknown;
  resolve(specifier: string): string;
}

/**
 * What stands around the project's text to make it the body of a function of `__bdk`. The text begins on the line below:
 * on a first line, columns of stack traces are not to be trusted (source-map-support takes off the length of a wrapper
 * that is not there). It has a scope of its own, for it may declare a `require` itself.
 */
export const projectOpening = 'const require = __bdk.require; return (async () => {"use strict";';
export const projectClosing = "\n})();";

/** The project's text as a function. */
export type ProjectFunction = (scope: ProjectScope) => Promise<void>;

/** What is outside the text, and how to get it. */
export interface ProjectSurroundings {
  /** Absolute path that stands for a module's key. */
  readonly locate: (key: string) => string;
  /** Absolute file or folder that a specifier of an external package is resolved from. */
  readonly resolveFrom: (specifier: string) => string;
  /** Specifiers that have to be imported before the text runs. */
  readonly imports: readonly string[];
  /** `import()` of a URL, for code that can't do it itself. */
  readonly importModule?: (url: string) => Promise<unknown>;
}

/**
 * Runs the project's text once and gives what its modules export. Rejects with whatever the project throws. `extra`
 * replaces parts of the scope (the evaluation child adds guards).
 */
export async function runProject(
  run: ProjectFunction,
  surroundings: ProjectSurroundings,
  extra: Readonly<Record<string, unknown>> = {},
): Promise<Definitions> {
  const { resolveFrom, importModule = (url: string): Promise<unknown> => import(url) } = surroundings;
  const requireFrom = (specifier: string) => createRequire(pathToFileURL(resolveFrom(specifier)));
  const imported = new Map<string, unknown>();
  for (const specifier of surroundings.imports) {
    // Resolved here, since an import by name would start at the runtime's own file.
    const file = requireFrom(specifier).resolve(specifier);
    imported.set(specifier, await importModule(pathToFileURL(file).href));
  }
  const place = (key: string): ModulePlace => {
    const filename = surroundings.locate(key);
    const url = pathToFileURL(filename).href;
    const dirname = join(filename, "..");
    const resolve = (specifier: string): string =>
      /^\.{0,2}\//.test(specifier)
        ? new URL(specifier, url).href
        : pathToFileURL(createRequire(url).resolve(specifier)).href;
    return { url, filename, dirname, resolve };
  };
  let definitions: Definitions = {};
  await run({
    require: Object.assign((specifier: string): unknown => requireFrom(specifier)(specifier), {
      resolve: (specifier: string): string => requireFrom(specifier).resolve(specifier),
    }),
    imported: (specifier) => imported.get(specifier),
    meta: place,
    native: (key) => {
      const file = surroundings.locate(key);
      return createRequire(pathToFileURL(file))(file);
    },
    glob: loadByName,
    provide: (value) => {
      definitions = value;
    },
    ...extra,
  });
  return definitions;
}

/** Endings in the order that a TypeScript project means them. */
const endings = [".ts", ".tsx", ".mts", ".cts", ".js", ".mjs", ".cjs", ".json", "/index.ts", "/index.js"];

function loadByName(modules: Readonly<Record<string, () => unknown>>, path: string): unknown {
  const stem = path.replace(/\.([cm]?)jsx?$/, "");
  const found = [path, stem].flatMap((start) => endings.map((ending) => modules[`${start}${ending}`])).find(Boolean);
  if (found !== undefined) return found();
  throw new Error(`there is no module "${path}" in the bundle; there are: ${Object.keys(modules).join(", ")}`);
}
