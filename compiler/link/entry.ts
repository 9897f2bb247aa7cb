import { type KeptForm, keepSource } from "./kept.js";

/** A module of the project that holds a definition. */
export interface LinkedModule {
  readonly slug: string;
  /** Entry id, such as `tool:approve_pr`. */
  readonly id: string;
  /** POSIX path relative to the source root. */
  readonly file: string;
}

/** The generated module that everything is linked from: imports each definition and hands all of them over. */
export function entrySource(modules: readonly LinkedModule[], kept: ReadonlyMap<string, KeptForm> = new Map()): string {
  const imports = modules.map(({ file }, index) => `import * as m${index} from ${specifier(file)};`);
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
      ({ slug, id, file }) =>
        `await __bdk.guard(${JSON.stringify(slug)}, ${JSON.stringify(id)}, () => import(${specifier(file)}));`,
    )
    .join("\n");
}

function specifier(file: string): string {
  return JSON.stringify(`./${file}`);
}
