/** Phase 4: loads the linked project in a child and reads what syntax can't tell. What is evaluated is what ships. */

import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { AnalysisCache, Definition } from "../analyze/definition.js";
import { checkExpression } from "../analyze/rules/cron.js";
import { type Diagnostic, inOrder, type Result } from "../diagnostics/diagnostic.js";
import type { Linked, Linker } from "../link/link.js";
import { bareFolders } from "../link/places.js";
import type { Surface } from "../resolve/surface.js";
import type { Stamps } from "../stamps.js";
import type { Evaluator } from "./child-process.js";
import { checkConnections } from "./connections.js";
import { type Settled, settleEnvironment } from "./environment.js";
import { codeDefinitions, definedIn, linkedMounts } from "./modules.js";
import { createOutcomeCache } from "./outcome-cache.js";
import { closureOf, createPasses, keyOf, type Pass } from "./passes.js";
import type { EvaluationEntry, Facts } from "./protocol.js";
import {
  type ReportContext,
  reportFailure,
  reportIncident,
  reportProblem,
  type SharedFailure,
  spanOfField,
} from "./report.js";
import { linkSound } from "./sound-link.js";

/** Phase 4's value. */
export interface Evaluated {
  /** The project code that was evaluated. */
  readonly linked: Linked;
  /** What definitions in code say, by slug and id. */
  facts(slug: string, id: string): Facts | undefined;
  /** True when a definition's check waits for the environment of the running server. */
  isDeferred(slug: string, id: string): boolean;
  readonly env: { readonly required: readonly string[]; readonly read: readonly string[] };
}

export interface EvaluateOptions {
  readonly root: string;
  readonly environment: "build" | "strict";
  readonly timeoutMs: number;
  readonly linker: Linker;
  readonly evaluator: Evaluator;
  readonly cache: { readonly facts: AnalysisCache };
  readonly stamps: Stamps;
  /** Definitions that are known to be faulty: left out, so that the others can be read. */
  readonly faulty: ReadonlySet<Definition>;
}

/** @returns no value when the project can't be linked. */
export async function evaluate(
  surfaces: readonly Surface[],
  options: EvaluateOptions,
): Promise<Result<Evaluated | undefined>> {
  const { root, environment, linker, evaluator, timeoutMs, faulty } = options;
  linker.mount(linkedMounts(surfaces));
  const { linked, definitions: found, diagnostics } = await linkSound(linker, codeDefinitions(surfaces, root, faulty));
  if (linked === undefined) return { value: undefined, diagnostics };

  const modules = found.map(({ module }) => module);
  const entries: readonly EvaluationEntry[] = found.map(({ slug, id, winner }) => ({
    slug,
    id,
    kind: winner.entry.kind,
    ...definedIn({ slug, winner }, surfaces, root),
    needs: [],
  }));
  const definitions = new Map(found.map(({ slug, id, winner }) => [keyOf({ slug, id }), winner]));
  const names = [
    ...new Set(
      surfaces.flatMap((surface) => surface.entries.flatMap(({ winner }) => winner.env.map(({ name }) => name))),
    ),
  ].sort();
  const strict = environment === "strict";
  const stage = strict ? undefined : stageBeside(linked);
  const real = strict ? currentEnvironment() : {};
  const session = evaluator.open(stage ?? root, real);
  try {
    const run = createPasses({
      linker,
      flat: linked,
      modules,
      entries,
      session,
      stage,
      known: strict ? undefined : createOutcomeCache(options.cache.facts, options.stamps, linked, root),
      surroundings: { root: stage === undefined ? root : path.join(stage, "assets"), resolveFrom: root, timeoutMs },
    });
    const settled = strict
      ? readStrictly(await run(real), entries)
      : await settleEnvironment(run, entries, definitions, names, [stage ?? ""].filter(Boolean));
    const context: ReportContext = { root, tracer: settled.pass.tracer, timeoutMs, output: settled.pass.output };
    const stands = standingMounts(surfaces, settled);
    const connections = entries.flatMap((entry) => {
      const [definition, facts] = [definitions.get(keyOf(entry)), settled.facts.get(keyOf(entry))];
      const isConnection = entry.kind === "mcp-connection" || entry.kind === "host-connection";
      return isConnection && definition !== undefined && facts !== undefined ? [{ definition, facts }] : [];
    });
    const slugs = surfaces.map(({ slug }) => slug);
    const doubts = checkConnections(connections, root, slugs, strict ? real : undefined);
    const problems = report(settled, linked, entries, definitions, real, context, stands);
    return {
      value: {
        linked,
        facts: (slug, id) => settled.facts.get(keyOf({ slug, id })),
        isDeferred: (slug, id) => settled.deferred.has(keyOf({ slug, id })),
        env: { required: settled.required, read: [...new Set([...names, ...settled.required])].sort() },
      },
      diagnostics: inOrder([...diagnostics, ...settled.diagnostics, ...problems, ...doubts]),
    };
  } finally {
    session.close();
    // The child may be writing there until the signal reaches it.
    if (stage !== undefined) rmSync(stage, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The folder a bundle would stand in: empty but for what is kept beside it. */
function stageBeside({ code }: Linked): string {
  const stage = mkdtempSync(path.join(tmpdir(), "bdk-evaluate-"));
  for (const { path: name, file } of code.beside) {
    const target = path.join(stage, "assets", name);
    mkdirSync(path.dirname(target), { recursive: true });
    copyFileSync(file, target);
  }
  for (const folder of bareFolders(code)) mkdirSync(path.join(stage, "assets", folder), { recursive: true });
  return stage;
}

function currentEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

function readStrictly(pass: Pass, entries: readonly EvaluationEntry[]): Settled {
  const facts = new Map<string, Facts>();
  for (const entry of entries) {
    const found = pass.outcomes.get(keyOf(entry))?.facts;
    if (found !== undefined) facts.set(keyOf(entry), found);
  }
  return { pass, facts, deferred: new Set(), required: [], diagnostics: [] };
}

function report(
  { pass, deferred }: Settled,
  linked: Linked,
  entries: readonly EvaluationEntry[],
  definitions: ReadonlyMap<string, Definition>,
  env: Readonly<Record<string, string>>,
  context: ReportContext,
  stands: (slug: string, definition: Definition) => boolean,
): readonly Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const failures = new Map<string, SharedFailure>();
  for (const entry of entries) {
    const definition = definitions.get(keyOf(entry));
    const outcome = pass.outcomes.get(keyOf(entry));
    if (definition === undefined || outcome === undefined || deferred.has(keyOf(entry))) continue;
    diagnostics.push(...outcome.problems.map((problem) => reportProblem(problem, definition)));
    // Written-out expressions were checked from syntax.
    if (entry.kind === "schedule" && outcome.facts !== undefined && definition.literals.cron === undefined) {
      diagnostics.push(...checkExpression(outcome.facts.cron, spanOfField(definition, "cron")));
    }
    if (outcome.failure === undefined) continue;
    // Without its mount's settings it could not load; what is wrong with those is said.
    if (outcome.failure.kind === "unmounted" && !stands(entry.slug, definition)) continue;
    const { kind, module, message } = outcome.failure;
    // Modules that share a faulty one fail alike: said once, with the names of all.
    const cause = `${kind}\0${module ?? definition.entry.file}\0${message}`;
    const known = failures.get(cause) ?? {
      failure: outcome.failure,
      definitions: [],
      unset: unsetNames(pass, linked, entry, env),
    };
    failures.set(cause, { ...known, definitions: [...known.definitions, definition] });
  }
  const exits = new Set([...failures.values()].map(({ failure }) => failure.stack));
  const incidents = pass.incidents
    .filter(({ stack }) => !exits.has(stack))
    .map((incident) => reportIncident(incident, context));
  diagnostics.push(...[...failures.values()].map((failure) => reportFailure(failure, context)), ...incidents);
  if (pass.failure !== undefined && diagnostics.length === 0 && deferred.size === 0) {
    diagnostics.push(reportFailure({ failure: pass.failure, definitions: [], unset: [] }, context));
  }
  return diagnostics;
}

/** Whether the mount that a definition belongs to gives its settings; an extension package by itself has none. */
function standingMounts(surfaces: readonly Surface[], { pass }: Settled) {
  return (slug: string, { entry }: Definition): boolean => {
    if (surfaces.some((surface) => surface.slug === slug && surface.base === "")) return false;
    if (entry.layer !== "extension" && entry.layer !== "overlay") return true;
    const outcome = pass.outcomes.get(keyOf({ slug, id: `extension:${entry.mount}` }));
    return outcome !== undefined && outcome.failure === undefined && outcome.problems.length === 0;
  };
}

/** Names that a failed entry's modules read and found unset. */
function unsetNames(
  pass: Pass,
  linked: Linked,
  entry: EvaluationEntry,
  env: Readonly<Record<string, string>>,
): readonly string[] {
  const names = closureOf(linked, entry).flatMap((key) => pass.reads[key] ?? []);
  return [...new Set(names)].filter((name) => env[name] === undefined).sort();
}
