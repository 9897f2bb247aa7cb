/**
 * Extensions that are mounted more than once: every mount has an instance of the extension's own modules to itself, and
 * with it its own settings. What they depend on stays shared.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import type { Metafile, OnResolveArgs, PluginBuild } from "esbuild";
import { type Diagnostic, diagnostic, type Span } from "../diagnostics/diagnostic.js";
import { isMade, mountNamespace as namespace, plainFile } from "./input-names.js";
import { loaderOf } from "./loaders.js";
import { pardoned } from "./pardon.js";

/** A mount as the linker knows it. */
export interface LinkedMount {
  /** `slug/namespace`. */
  readonly key: string;
  /** Folder whose modules are the extension's own, relative to the root. */
  readonly scope: string;
  /** The mount's module, relative to the root. */
  readonly file: string;
  /** The module that defines the extension, relative to the root. */
  readonly module: string;
  /** Modules that hand it on to the mount; each mount has its own, as they could lead to one instance only. */
  readonly via: readonly string[];
  /** What imports of the extension start with: its package's name, and what the mount wrote. */
  readonly names: readonly string[];
}

/** An extension with several mounts. */
export interface SharedScope {
  /** Absolute folder. */
  readonly dir: string;
  readonly mounts: readonly LinkedMount[];
}

const within = Symbol("resolved for an instance");

/** The extensions that need instances. */
export function sharedScopes(root: string, mounts: readonly LinkedMount[]): readonly SharedScope[] {
  const scopes = new Map<string, LinkedMount[]>();
  for (const mount of mounts) scopes.set(mount.scope, [...(scopes.get(mount.scope) ?? []), mount]);
  return [...scopes]
    .filter(([, sharing]) => sharing.length > 1)
    .map(([scope, sharing]) => ({ dir: path.join(root, scope), mounts: sharing }));
}

/** What the generated entry imports a module under. */
export function specifierOf(file: string, mount: string | undefined): string {
  return mount === undefined ? `./${file}` : instanceOf(file, mount);
}

/** How esbuild names an instance of a module. */
export function instanceOf(file: string, mount: string): string {
  return `${namespace}:${file}?mount=${mount}`;
}

/**
 * The text of a module that defines an extension, with `root: import.meta.dirname` rewritten to what it means in linked
 * text: nearly every extension has that and no other mention of its own place. Nothing when there is more to it.
 */
export function withRoot(text: string, key: string): string | undefined {
  const mentions = text.match(/\bimport\.meta\b|\b__dirname\b|\b__filename\b/g) ?? [];
  if (mentions.length !== 1) return undefined;
  const rewritten = text.replace(
    /\broot:(\s*)import\.meta\.dirname\b/,
    (_, space: string) => `root:${space}__bdk.meta(${JSON.stringify(key)}).dirname`,
  );
  return rewritten === text ? undefined : rewritten;
}

/** Registered last: whatever else has a say in how imports are resolved has had it. */
export function resolveMounts(
  build: PluginBuild,
  root: string,
  scopes: readonly SharedScope[],
  read: (file: string) => Promise<string>,
): void {
  if (scopes.length === 0) return;
  const toInstance = async (args: OnResolveArgs, resolveDir: string, owner: SharedScope, mount: LinkedMount) => {
    const { importer, kind, with: attributes } = args;
    const found = await build.resolve(args.path, {
      importer,
      kind,
      resolveDir,
      with: attributes,
      namespace: "file",
      pluginData: within,
    });
    if (found.errors.length > 0) return { errors: found.errors };
    if (found.external || found.namespace !== "file") return found;
    const file = path.relative(root, found.path).split(path.sep).join("/");
    if (!isOwn(owner.dir, found.path) && !mount.via.includes(file)) return found;
    return { path: `${file}?mount=${mount.key}`, namespace, sideEffects: found.sideEffects };
  };

  build.onResolve({ filter: new RegExp(`^${namespace}:`) }, ({ path: specifier }) => ({
    path: specifier.slice(namespace.length + 1),
    namespace,
  }));
  build.onLoad({ filter: /.*/, namespace }, async ({ path: name }) => {
    const file = path.join(root, plainFile(`${namespace}:${name}`));
    return { contents: await read(file), loader: loaderOf(file), resolveDir: path.dirname(file), watchFiles: [file] };
  });
  build.onResolve({ filter: /.*/, namespace }, (args) => {
    const key = /\?mount=([^?]*)$/.exec(args.importer)?.[1];
    for (const owner of scopes) {
      const mount = owner.mounts.find((each) => each.key === key);
      if (mount !== undefined) return toInstance(args, args.resolveDir, owner, mount);
    }
    return undefined;
  });
  // The mount itself and its overlays mean their own instance.
  build.onResolve({ filter: namesFilter(scopes), namespace: "file" }, (args) => {
    if (args.pluginData === within || args.pluginData === pardoned) return undefined;
    const importer = path.relative(root, args.importer).split(path.sep).join("/");
    for (const owner of scopes) {
      const mount = owner.mounts.find((each) => belongsTo(each, importer));
      if (mount !== undefined) return toInstance(args, args.resolveDir, owner, mount);
    }
    return undefined;
  });
}

function namesFilter(scopes: readonly SharedScope[]): RegExp {
  const names = scopes.flatMap(({ mounts }) => mounts.flatMap((each) => each.names));
  const bare = names.filter((name) => !name.startsWith(".")).map((name) => `${escaped(name)}(?:/|$)`);
  const isPackaged = ({ dir, mounts }: SharedScope) =>
    dir.includes(`${path.sep}node_modules${path.sep}`) && mounts.every(({ via }) => via.length === 0);
  const relative = scopes.every(isPackaged) ? [] : ["\\.{1,2}/"];
  return new RegExp(`^(?:${[...new Set([...bare, ...relative])].join("|")})`);
}

/** The mount's module, or a file beneath the mount's folder. */
function belongsTo({ file }: LinkedMount, importer: string): boolean {
  if (importer === file) return true;
  return /\/extension\.\w+$/.test(file) && importer.startsWith(`${path.posix.dirname(file)}/`);
}

/** In the folder, but not in a package that is installed in it. */
function isOwn(dir: string, file: string): boolean {
  if (!file.startsWith(`${dir}${path.sep}`)) return false;
  return !file.slice(dir.length).includes(`${path.sep}node_modules${path.sep}`);
}

/** Imports that reach into an extension with several mounts from somewhere that belongs to none of them. */
export function strayImports(root: string, scopes: readonly SharedScope[], metafile: Metafile): readonly Diagnostic[] {
  if (scopes.length === 0) return [];
  const inputs = Object.entries(metafile.inputs);
  return scopes.flatMap(({ dir, mounts }) => {
    const isInside = (input: string): boolean => !isMade(input) && isOwn(dir, path.resolve(root, input));
    const strays = new Set(
      inputs.map(([input]) => input).filter((input) => isInside(input) && !input.endsWith(".json")),
    );
    return inputs.flatMap(([importer, { imports }]) =>
      importer.startsWith("bdk:") || isInside(importer)
        ? []
        : imports
            .filter(({ path: target }) => strays.has(target))
            .map(({ original = "" }) => stray(root, importer, original, mounts)),
    );
  });
}

function stray(root: string, importer: string, specifier: string, mounts: readonly LinkedMount[]): Diagnostic {
  const names = mounts.map(({ file }) => file).join(" and ");
  return diagnostic("sharedInstance", {
    message: `"${specifier}" is mounted by ${names}: which of its instances is meant here?`,
    at: placeOf(root, plainFile(importer), specifier),
    help: "import it from an overlay beneath the mount's folder, which means that mount's own, or move what you need to a package of its own",
  });
}

function placeOf(root: string, file: string, specifier: string): Span {
  const text = readFileSync(path.resolve(root, file), "utf8");
  const index = Math.max(text.indexOf(`"${specifier}"`), text.indexOf(`'${specifier}'`));
  if (index < 0) return { file, line: 1, column: 1 };
  const before = text.slice(0, index).split("\n");
  const line = before.length;
  const column = (before.at(-1) ?? "").length + 1;
  return { file, line, column, endLine: line, endColumn: column + specifier.length + 2 };
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}
