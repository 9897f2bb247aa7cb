/** What one pass of the linker teaches the next: packages to leave outside, modules to rewrite, files to keep beside. */
import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import type { BuildFailure, BuildResult } from "esbuild";
import { type Diagnostic, diagnostic, type Span } from "../diagnostics/diagnostic.js";
import { isMade, isRaw, plainFile } from "./input-names.js";
import { type InstalledPackage, packageOf } from "./package-folder.js";
import type { BesideFile } from "./project-code.js";
import { moduleKey, placeKey, type ResolutionState, type Twins } from "./resolution.js";

export interface Adjustments {
  readonly beside: readonly BesideFile[];
  readonly folders: Readonly<Record<string, string>>;
  readonly diagnostics: readonly Diagnostic[];
}

/** Most files and bytes that are kept beside the bundle because a folder was named. */
const limits = { files: 2_000, bytes: 64 * 1024 * 1024 };

/** Of a folder that nothing names: no code, and no hidden files, which may hold secrets (`.env`). */
const isData = (file: string): boolean => !codeEnding.test(file) && !path.basename(file).startsWith(".");

const codeEnding = /\.(?:[cm]?[jt]sx?|map)$/;

/** Reads a pass's result and fills the state for the next; `changed` tells whether one is needed. */
export async function adjust(
  state: ResolutionState,
  result: BuildResult | BuildFailure,
  known: Map<string, InstalledPackage | undefined>,
): Promise<{ readonly changed: boolean; readonly value: Adjustments }> {
  const sizeOf = (): number => state.external.size + state.rewritten.size + Number(state.zodLocales);
  const before = sizeOf();
  const collected: Collected = {
    isAltered: false,
    root: state.root,
    twins: state.twins,
    known,
    beside: new Map(),
    folders: { "": state.root },
    diagnostics: [],
  };
  for (const file of state.natives) {
    const owner = packageOf(file, known);
    if (isInstalled(file) && owner !== undefined && !state.mounted.has(owner.dir))
      state.external.set(owner.name, "native addon");
    else keepFile(collected, file);
  }
  const text =
    "outputFiles" in result ? result.outputFiles?.find((file) => file.path.endsWith(".js"))?.text : undefined;
  const named = "metafile" in result ? Object.keys(result.metafile?.inputs ?? {}) : [];
  const inputs = [...new Set(named.filter((input) => !isRaw(input)).map(plainFile))];
  state.zodLocales ||= usesLocales(state.root, inputs);
  if (text !== undefined && /\.node["'`]|require\(`/.test(text)) findNatives(state, inputs, collected);
  if (text !== undefined && (state.rewritten.size > 0 || /import\.meta|__dirname|__filename/.test(text))) {
    await readModules(state, inputs, collected);
  }
  for (const { keeps } of state.generated.values()) {
    if (keeps !== undefined)
      keepFolder(collected, path.join(state.root, keeps), { file: keeps, line: 1, column: 1 }, () => true);
  }
  const beside = [...collected.beside]
    .map(([key, file]) => ({ path: key, file }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  return {
    changed: collected.isAltered || before !== sizeOf(),
    value: { beside, folders: collected.folders, diagnostics: collected.diagnostics },
  };
}

/** Whether a module outside zod mentions its locales, wherever zod is there at all. */
function usesLocales(root: string, inputs: readonly string[]): boolean {
  const ofZod = (file: string): boolean => /(?:^|\/)zod\/v[34]\//.test(file);
  if (!inputs.some((file) => /(?:^|\/)zod\/v4\/locales\/index\.js$/.test(file))) return false;
  return inputs.some(
    (file) => !isMade(file) && !ofZod(file) && /\blocales\b/.test(readFileSync(path.resolve(root, file), "utf8")),
  );
}

/** Packages that look for a native addon, or for a package of this platform, under a computed name. */
const computedNative = /\brequire\(.*\.node["'`]\s*\)|\brequire\(`[^`.$/][^`]*\$\{/;

function findNatives(state: ResolutionState, inputs: readonly string[], collected: Collected): void {
  for (const input of inputs) {
    const file = path.resolve(state.root, input);
    if (!isInstalled(file) || !/\.[cm]?js$/.test(file)) continue;
    const owner = packageOf(file, collected.known);
    if (owner !== undefined && !state.mounted.has(owner.dir) && computedNative.test(readFileSync(file, "utf8")))
      state.external.set(owner.name, "native addon");
  }
}

interface Collected {
  /** A module was rewritten otherwise than in the pass before. */
  isAltered: boolean;
  readonly root: string;
  readonly twins: Twins;
  readonly known: Map<string, InstalledPackage | undefined>;
  readonly beside: Map<string, string>;
  readonly folders: Record<string, string>;
  readonly diagnostics: Diagnostic[];
}

async function readModules(state: ResolutionState, inputs: readonly string[], collected: Collected): Promise<void> {
  const { mentionsSelf, readSelfReferences, standsAt } = await import("./beside.js");
  for (const input of inputs) {
    if (isMade(input) || !/\.[cm]?[jt]sx?$/.test(input)) continue;
    const file = path.resolve(state.root, input);
    const text = readFileSync(file, "utf8");
    if (!mentionsSelf.test(text)) continue;
    const key = placeKey(state.twins, state.root, file, collected.known);
    const found = readSelfReferences(file, text, key);
    if (found.text === text) continue;
    const owner = packageOf(file, collected.known);
    // An installed package that looks for files beside itself works only where it stands, whole.
    const staysWhole = isInstalled(file) && owner !== undefined && !state.mounted.has(owner.dir);
    if (staysWhole && found.places.length + found.opaque.length > 0) {
      state.external.set(owner.name, "reads files beside itself");
      continue;
    }
    collected.isAltered ||= state.rewritten.get(file) !== found.text;
    state.rewritten.set(file, found.text);
    noteFolder(collected, file, key);
    for (const place of found.places) {
      const span: Span = { file: key, line: place.line, column: place.column };
      const kind = standsAt(place.path);
      if (kind === "file") {
        keepFile(collected, place.path, span);
        if (/\.[cm]?tsx?$/.test(place.path)) collected.diagnostics.push(unlinked(place.path, span));
      } else if (kind === "folder") keepFolder(collected, place.path, span, () => true);
      else if (place.exact) collected.diagnostics.push(missing(collected.root, place.path, span));
    }
    for (const use of found.opaque) {
      const span: Span = { file: key, line: use.line, column: use.column };
      keepFolder(collected, path.dirname(file), span, isData);
      collected.diagnostics.push(
        diagnostic("besideUnknown", {
          message: "what this module reads beside itself can't be told from its text",
          at: span,
          help: 'name files with literals, as in new URL("./prices.csv", import.meta.url); the data files of this folder are kept beside the bundle',
        }),
      );
    }
  }
}

function unlinked(place: string, at: Span): Diagnostic {
  return diagnostic("besideTypeScript", {
    message: `${path.basename(place)} is kept beside the bundle as it is: it can be read there, but Node can't run it`,
    at,
    help: "write what a Worker or a child process runs in JavaScript (.mjs), without imports of other project files",
  });
}

function missing(root: string, place: string, at: Span): Diagnostic {
  const name = path.relative(root, place).split(path.sep).join("/");
  return diagnostic("besideMissing", {
    message: `this names "${name}", which does not exist`,
    at,
    help: "check the path, or ignore this when the file is made at run time",
  });
}

function keepFolder(collected: Collected, folder: string, at: Span, wanted: (file: string) => boolean): void {
  const found: string[] = [];
  let bytes = 0;
  const walk = (dir: string): boolean => {
    for (const each of readdirSync(dir, { withFileTypes: true })) {
      const file = path.join(dir, each.name);
      if (each.isDirectory()) {
        if (each.name === "node_modules" || each.name.startsWith(".")) continue;
        if (!walk(file)) return false;
      } else if (each.isFile() && wanted(file)) {
        found.push(file);
        bytes += statSync(file).size;
        if (found.length > limits.files || bytes > limits.bytes) return false;
      }
    }
    return true;
  };
  if (folder === path.dirname(collected.root) || !walk(folder)) {
    collected.diagnostics.push(
      diagnostic("besideTooLarge", {
        message: `this may read anything in "${path.relative(collected.root, folder).split(path.sep).join("/") || "."}", which is too much to keep beside the bundle`,
        at,
        help: "keep data files in a folder of their own and name it with a literal",
      }),
    );
    return;
  }
  for (const file of found) keepFile(collected, file, at);
}

function keepFile(collected: Collected, file: string, at?: Span): void {
  const real = realpathSync(file);
  const key = placeKey(collected.twins, collected.root, file, collected.known);
  const allowed =
    !key.startsWith("../") && !moduleKey(realpathSync(collected.root), real, collected.known).startsWith("../");
  if (allowed) {
    collected.beside.set(key, real);
    noteFolder(collected, file, key);
    return;
  }
  collected.diagnostics.push(
    diagnostic("besideOutside", {
      message: `"${key}" lies outside the project and can't be kept beside the bundle`,
      ...(at === undefined ? {} : { at }),
      help: "move the file into the project",
    }),
  );
}

/** For keys that stand for a package elsewhere: remembers where that is. */
function noteFolder(collected: Collected, file: string, key: string): void {
  const owner = key.startsWith("node_modules/") ? packageOf(file, collected.known) : undefined;
  if (owner === undefined) return;
  const below = path.relative(owner.dir, file).split(path.sep).join("/");
  collected.folders[key.slice(0, -below.length - 1)] = owner.dir;
}

/** True for files of a package that a package manager put there (not a workspace link, whose real path is elsewhere). */
function isInstalled(file: string): boolean {
  return file.includes(`${path.sep}node_modules${path.sep}`) && !/\.[cm]?tsx?$/.test(file);
}
