/** Finds the module that defines an extension: from what a mount imports, through everything that hands it on. */
import path from "node:path";
import { ownSubpath } from "../aliases.js";
import type { ModuleFacts, ReexportFacts } from "../analyze/facts.js";
import { isCode } from "../analyze/resolve-import.js";
import type { Ground } from "./ground.js";

/** Where an extension is defined. */
export interface Located {
  /** The module, relative to the source root. */
  readonly file: string;
  /** Its syntax; undefined when it can't be read. */
  readonly facts?: ModuleFacts;
  /** The exported name that was followed. */
  readonly name: string;
  /** The modules that hand it on, from the one that the mount imports. */
  readonly via: readonly string[];
}

/** A package may hand its extension on through this many modules. */
const deepest = 12;

/**
 * Follows `name` of the module that `specifier` means for `from`.
 *
 * @returns undefined when there is no such module; the linker says so, in its own words
 */
export async function locate(
  specifier: string,
  name: string,
  from: string,
  ground: Ground,
): Promise<Located | undefined> {
  let wanted = { specifier, name, from };
  let last: Located | undefined;
  for (let step = 0; step < deepest; step += 1) {
    const file = await ground.resolve(wanted.specifier, wanted.from);
    if (file === undefined) return last;
    const facts = isCode(file) ? await ground.readFacts(file) : undefined;
    const via: readonly string[] = last === undefined ? [] : [...last.via, last.file];
    last = { file, name: wanted.name, via, ...(facts === undefined ? {} : { facts }) };
    const next = facts === undefined ? undefined : await handedOn(facts, file, wanted.name, ground);
    if (next === undefined || ownSubpath(next.from) !== undefined) return last;
    wanted = { specifier: next.from, name: next.imported === "*" ? wanted.name : next.imported, from: file };
  }
  return last;
}

/** Where the module has the name from, when not from itself. */
async function handedOn(
  { reexports = [] }: ModuleFacts,
  file: string,
  name: string,
  ground: Ground,
): Promise<ReexportFacts | undefined> {
  const named = reexports.find((each) => each.name === name);
  if (named !== undefined || name === "default") return named;
  for (const star of reexports.filter((each) => each.name === "*")) {
    const target = await ground.resolve(star.from, file);
    const facts = target === undefined || !isCode(target) ? undefined : await ground.readFacts(target);
    if (facts?.reexports?.some((each) => each.name === name || each.name === "*")) return star;
    if (facts !== undefined && definesExtension(facts)) return star;
  }
  return undefined;
}

/** Whether the module gets `defineExtension` from us, under whichever name. */
export function definesExtension({ exported, imports }: ModuleFacts): boolean {
  if (exported?.callee?.name === "defineExtension") return true;
  return imports.some(({ specifier }) => ["./extensions", "."].includes(ownSubpath(specifier) ?? ""));
}

/** The folder of a path relative to the source root, which may lead out of it. */
export function folderOf(file: string): string {
  const folder = path.posix.dirname(file);
  return folder === "." ? "" : folder;
}
