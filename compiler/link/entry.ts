import { type KeptForm, keepSource } from "./kept.js";
import { instanceOf, specifierOf } from "./mounts.js";

/** A module of the project that holds a definition. */
export interface LinkedModule {
  readonly slug: string;
  /** Entry id, such as `tool:approve_pr`. */
  readonly id: string;
  /** POSIX path relative to the source root. */
  readonly file: string;
  /** Key of the mount whose instance is meant; only for extensions with several mounts. */
  readonly mount?: string;
  /** The module of the mount that brings it, which has to run first: it holds the settings. */
  readonly needs?: string;
  /** A module that no file holds; `file` says what it is made from. */
  readonly generated?: GeneratedModule;
}

/** Text of a module that is made for the linker. */
export interface GeneratedModule {
  readonly text: string;
  /** Folder that it needs beside the bundle, relative to the root. */
  readonly keeps?: string;
}

/** How esbuild names the module that holds a definition. */
export function inputOf({ slug, id, file, mount, generated }: LinkedModule): string {
  if (generated !== undefined) return `bdk-generated:${slug}/${id}`;
  return mount === undefined ? file : instanceOf(file, mount);
}

/** The generated module that everything is linked from: imports each definition and hands all of them over. */
export function entrySource(modules: readonly LinkedModule[], kept: ReadonlyMap<string, KeptForm> = new Map()): string {
  const imports = modules.map((each, index) => `import * as m${index} from ${specifier(each)};`);
  const bySlug = new Map<string, string[]>();
  for (const [index, { slug, id }] of modules.entries()) {
    const fields = bySlug.get(slug) ?? [];
    bySlug.set(slug, fields);
    fields.push(`${JSON.stringify(id)}: m${index}.default`);
  }
  const agents = [...bySlug].map(([slug, fields]) => `${JSON.stringify(slug)}: { ${fields.join(", ")} }`);
  return `${imports.join("\n")}\n__bdk.provide({ ${agents.join(", ")} });\n${keepSource(kept)}`;
}

/** The same with every module under its own guard, in order, so that one faulty module does not hide another. */
export function guardedEntrySource(modules: readonly LinkedModule[]): string {
  return modules
    .map(
      (each) =>
        `await __bdk.guard(${JSON.stringify(each.slug)}, ${JSON.stringify(each.id)}, () => import(${specifier(each)}));`,
    )
    .join("\n");
}

function specifier(module: LinkedModule): string {
  const { file, mount, generated } = module;
  return JSON.stringify(generated === undefined ? specifierOf(file, mount) : inputOf(module));
}
