/**
 * The short way from an edit to running code (`bdk dev`): syntax of the whole project is checked as ever, but only the
 * modules that the edit touches are linked and run again. A whole compilation follows when the edits pause.
 */
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { analyze } from "./analyze/analyze.js";
import { primarySpan } from "./diagnostics/diagnostic.js";
import type { Evaluated } from "./evaluate/evaluate.js";
import { keyOf } from "./evaluate/passes.js";
import type { EntryOutcome, EvaluationEntry, Facts } from "./evaluate/protocol.js";
import type { CompileOptions, CompileResult } from "./index.js";
import type { PatchBase } from "./link/patch.js";
import type { ProjectCode } from "./link/project-code.js";
import { createManifest } from "./manifest/create.js";
import type { Scripts } from "./manifest/scripts.js";
import { mount } from "./mount/mount.js";
import { resolve } from "./resolve/resolve.js";
import type { Surface } from "./resolve/surface.js";
import { startRun } from "./run.js";
import { scan } from "./scan/scan.js";
import type { Workshop } from "./workshop.js";

/** Code to run in the server, and how to end the compilation with what it says. */
export interface Patch {
  /** Hands its modules to `__bdk.keep`, its definitions to `__bdk.provide`; gets what it builds on from `__bdk.kept`. */
  readonly code: ProjectCode;
  /** Definitions to describe once it has run; empty when no code changed. */
  readonly entries: readonly EvaluationEntry[];
  /** The project as it is now; nothing when the outcomes show something that a whole compilation has to report. */
  complete(outcomes: readonly EntryOutcome[]): CompileResult | undefined;
}

/** What a compilation leaves for patches, by the code it made. */
export interface Patchable {
  readonly surfaces: readonly Surface[];
  readonly evaluated: Evaluated;
  /** Of agent tools, as they were linked last: the whole build behind a patch links them anew. */
  readonly scripts: Scripts;
  /** The code that was linked as a whole. */
  readonly whole: ProjectCode;
  /** Texts of the patches on it, by the modules that each of them touches. */
  readonly patches: ReadonlyMap<string, string>;
}

/** What the later phases had to say: kept for definitions that a patch does not touch. */
const laterPhases = /^BDK[356]/;

/**
 * @param files absolute paths of what changed
 * @returns nothing when the edit needs a whole compilation
 */
export async function createPatch(
  workshop: Workshop,
  options: CompileOptions,
  last: CompileResult,
  patchables: WeakMap<ProjectCode, Patchable>,
  files: readonly string[],
): Promise<Patch | undefined> {
  const known = last.bundle === undefined ? undefined : patchables.get(last.bundle.project);
  const base = known?.evaluated.linked.base;
  if (known === undefined || base === undefined || last.bundle === undefined) return undefined;
  const changed = sortOut(workshop.root, files, known.surfaces, base);
  if (changed === undefined) return undefined;
  const linking = changed.code.length === 0 ? undefined : workshop.linker.patch(base, changed.code);

  const { source, phase, finish } = startRun(workshop, { ...options, onPhase: () => undefined });
  const scanned = await phase("scan", () => scan(source));
  const tree = await phase("mount", () => mount(scanned, source, workshop.resolveModule, workshop.cache.facts));
  const definitions = await phase("analyze", () => analyze(tree, source, workshop.cache.facts));
  const surfaces = await phase("resolve", () => resolve(tree, definitions));
  const linked = await linking;
  if (finish.hasErrors() || !haveSameEntries(known.surfaces, surfaces)) return undefined;
  if (linked === undefined && changed.code.length > 0) return undefined;

  const kinds = new Map(
    surfaces.flatMap(({ slug, entries }) => entries.map(({ id, winner }) => [keyOf({ slug, id }), winner.entry.kind])),
  );
  const entries = (linked?.modules ?? []).flatMap(({ slug, id }): EvaluationEntry[] => {
    const kind = kinds.get(keyOf({ slug, id }));
    return kind === undefined ? [] : [{ slug, id, kind, needs: [] }];
  });
  // What a package brings depends on the settings of its mount without importing it.
  if (entries.some(({ kind }) => kind === "extension")) return undefined;
  return {
    code: linked?.code ?? { ...known.whole, text: "", map: "{}" },
    entries,
    complete(outcomes) {
      const facts = new Map<string, Facts>();
      for (const outcome of outcomes) {
        if (outcome.failure !== undefined || outcome.problems.length > 0) return undefined;
        if (outcome.facts !== undefined) facts.set(keyOf(outcome), outcome.facts);
      }
      const patches = new Map(known.patches);
      if (linked !== undefined) patches.set([...linked.touched].sort().join(), linked.code.text);
      // All texts together stand for the code in the hash; they are never run like that.
      const texts = [...patches].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text);
      const code: ProjectCode = { ...known.whole, text: [known.whole.text, ...texts].join("") };
      const evaluated: Evaluated = {
        ...known.evaluated,
        linked: { ...known.evaluated.linked, code, base: linked?.base ?? base },
        facts: (slug, id) => facts.get(keyOf({ slug, id })) ?? known.evaluated.facts(slug, id),
      };
      const created = createManifest(surfaces, evaluated, source, known.scripts);
      if (created.diagnostics.length > 0) return undefined;
      const { manifest, blobs } = created.value;
      patchables.set(code, { surfaces, evaluated, scripts: known.scripts, whole: known.whole, patches });
      const earlier = last.diagnostics.filter((each) => {
        const file = primarySpan(each)?.file;
        return laterPhases.test(each.code) && (file === undefined || linked?.touched.has(file) !== true);
      });
      return {
        diagnostics: [...finish.said(), ...earlier],
        surfaces,
        manifest,
        bundle: { manifest, project: code, blobs, files: [] },
        inputs: last.inputs,
        timings: finish.timings,
      };
    },
  };
}

/** Files that decide what imports mean. */
const settings = /(?:^|\/)(?:package(?:-lock)?\.json|[jt]sconfig[^/]*\.json|[^/]*lock[^/]*)$|(?:^|\/)node_modules\//;

/** Modules that the text is linked from, apart from prose; nothing when a file has changed that bears on all of them. */
function sortOut(
  root: string,
  files: readonly string[],
  surfaces: readonly Surface[],
  base: PatchBase,
): { readonly code: readonly string[] } | undefined {
  const prose = new Set<string>();
  for (const { winner } of surfaces.flatMap(({ entries }) => entries)) {
    if (winner.form !== "code") for (const file of [winner.entry.file, ...winner.entry.files]) prose.add(file);
  }
  const code: string[] = [];
  for (const file of files) {
    const key = path.relative(root, file).split(path.sep).join("/");
    if (base.edges.has(key)) code.push(file);
    // A file that is nothing yet (an editor's own, say) matters once scan or an import finds it.
    else if (!prose.has(key) && settings.test(key)) return undefined;
  }
  return { code };
}

function haveSameEntries(before: readonly Surface[], after: readonly Surface[]): boolean {
  const outline = (surfaces: readonly Surface[]) =>
    surfaces.map(({ slug, mounts, entries }) => ({
      slug,
      mounts,
      entries: entries.map(({ id, winner }) => [id, winner.form, winner.entry.file, winner.entry.files]),
    }));
  return isDeepStrictEqual(outline(before), outline(after));
}
