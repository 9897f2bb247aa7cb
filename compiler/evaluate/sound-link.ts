/** Links what can be linked: a module that can't must not hide what is wrong with the others. */
import { type Diagnostic, primarySpan } from "../diagnostics/diagnostic.js";
import type { Linked, Linker } from "../link/link.js";
import type { CodeDefinition } from "./modules.js";

export interface SoundLink {
  /** Absent when nothing of the project can be linked. */
  readonly linked: Linked | undefined;
  /** The definitions that are in it. */
  readonly definitions: readonly CodeDefinition[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Links that a search for sound modules may take; a project where more would be needed has enough to mend. */
const linkLimit = 40;

/**
 * Links all definitions; when that fails, those that can be linked without the rest. The diagnostics are those of the
 * whole, and an error is among them whenever a definition is left out.
 */
export async function linkSound(linker: Linker, all: readonly CodeDefinition[]): Promise<SoundLink> {
  const { value, diagnostics } = await linker.link(all.map(({ module }) => module));
  if (value !== undefined) return { linked: value, definitions: all, diagnostics };
  let links = 0;
  const isSound = async (some: readonly CodeDefinition[]): Promise<boolean> => {
    links += 1;
    return (await linker.link(some.map(({ module }) => module))).value !== undefined;
  };
  const search = async (some: readonly CodeDefinition[]): Promise<readonly CodeDefinition[]> => {
    if (some.length === 0 || links >= linkLimit) return [];
    if (await isSound(some)) return some;
    if (some.length === 1) return [];
    const middle = Math.ceil(some.length / 2);
    return [...(await search(some.slice(0, middle))), ...(await search(some.slice(middle)))];
  };
  const named = new Set(diagnostics.filter(({ severity }) => severity === "error").map((each) => fileOf(each)));
  const sound = await search(standing(all.filter(({ module }) => !named.has(module.file))));
  if (sound.length === 0) return { linked: undefined, definitions: [], diagnostics };
  const definitions = standing(sound);
  const { value: linked } = await linker.link(definitions.map(({ module }) => module));
  return { linked, definitions, diagnostics };
}

/** Those whose mount is there too: without it they have no settings. */
function standing(definitions: readonly CodeDefinition[]): readonly CodeDefinition[] {
  const files = new Set(definitions.map(({ module }) => module.file));
  return definitions.filter(({ module }) => module.needs === undefined || files.has(module.needs));
}

function fileOf(each: Diagnostic): string {
  return primarySpan(each)?.file ?? "";
}
