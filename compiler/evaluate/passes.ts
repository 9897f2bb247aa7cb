/** One evaluation of the whole project in one environment: fast when all is well, module by module when not. */
import type { Linked, LinkedModule, Linker } from "../link/link.js";
import type { EvaluationSession, RunResult } from "./child-process.js";
import type { Environment, OutcomeCache } from "./outcome-cache.js";
import type { EntryOutcome, EvaluationEntry, EvaluationRun, Failure, Incident } from "./protocol.js";
import { createTracer, type Tracer } from "./trace.js";

export interface Pass {
  /** By `slug`, a NUL, then the entry's id. */
  readonly outcomes: ReadonlyMap<string, EntryOutcome>;
  readonly incidents: readonly Incident[];
  /** Names that were read from the environment, by the module that was loading. */
  readonly reads: Readonly<Record<string, readonly string[]>>;
  /** The whole failed, though every module loads by itself. */
  readonly failure?: Failure;
  readonly tracer: Tracer;
  readonly output: string;
}

export interface PassInput {
  readonly linker: Linker;
  readonly flat: Linked;
  readonly modules: readonly LinkedModule[];
  readonly entries: readonly EvaluationEntry[];
  readonly session: EvaluationSession;
  /** Where outcomes are kept between runs; none where they may hold values of the environment. */
  readonly known: OutcomeCache | undefined;
  /** The folder of this run alone: what names it can't be kept for the next. */
  readonly stage: string | undefined;
  readonly surroundings: Pick<EvaluationRun, "root" | "resolveFrom" | "timeoutMs">;
}

export function keyOf({ slug, id }: { readonly slug: string; readonly id: string }): string {
  return `${slug}\0${id}`;
}

/** Makes a function that evaluates in a given environment; the guarded text is linked once, when first needed. */
export function createPasses(input: PassInput): (env: Environment) => Promise<Pass> {
  const { linker, flat, modules, entries, session, surroundings, known, stage } = input;
  const flatTracer = createTracer(flat.code.map);
  let guarded: Promise<{ readonly linked: Linked; readonly tracer: Tracer } | undefined> | undefined;

  const linkGuarded = async () => {
    const { value } = await linker.link(modules, "guarded");
    return value === undefined ? undefined : { linked: value, tracer: createTracer(value.code.map) };
  };
  const runOf = (linked: Linked, rest: Pick<EvaluationRun, "guarded" | "entries" | "env">): EvaluationRun => ({
    ...surroundings,
    ...rest,
    text: linked.code.text,
    folders: linked.code.folders,
    externals: linked.code.externals,
  });

  return async (env) => {
    const recalled = recall(known, entries, env);
    if (recalled.reads !== undefined && recalled.unknown.length === 0) {
      return { outcomes: recalled.outcomes, incidents: [], reads: recalled.reads, tracer: flatTracer, output: "" };
    }
    const whole = await session.run(runOf(flat, { guarded: false, entries: recalled.unknown, env }));
    if (isClean(whole)) {
      const pass = passOf([whole], flatTracer);
      if (known !== undefined) remember(known, recalled.unknown, env, pass, stage);
      return { ...pass, outcomes: new Map([...recalled.outcomes, ...pass.outcomes]) };
    }
    guarded ??= linkGuarded();
    const text = await guarded;
    if (text === undefined) return { ...passOf([whole], flatTracer), failure: failureOf(whole) };
    const results = await runGuarded(session, text.linked, entries, (rest) =>
      runOf(text.linked, { ...rest, guarded: true, env }),
    );
    const pass = passOf(results, text.tracer);
    const failed = [...pass.outcomes.values()].some(({ facts }) => facts === undefined) || pass.incidents.length > 0;
    if (failed) return pass;
    // Only together do they fail: the order of modules matters, or their number.
    return { ...pass, failure: failureOf(whole), tracer: flatTracer };
  };
}

/** What is known of the entries already, and those that have to be read. The text as a whole loads all the same. */
function recall(known: OutcomeCache | undefined, entries: readonly EvaluationEntry[], env: Environment) {
  const outcomes = new Map<string, EntryOutcome>();
  for (const entry of entries) {
    const outcome = known?.find(entry, env);
    if (outcome !== undefined) outcomes.set(keyOf(entry), outcome);
  }
  return { outcomes, unknown: entries.filter((entry) => !outcomes.has(keyOf(entry))), reads: known?.findReads(env) };
}

function remember(
  known: OutcomeCache,
  entries: readonly EvaluationEntry[],
  env: Environment,
  pass: Pass,
  stage: string | undefined,
): void {
  if (!known.stands()) return;
  known.keepReads(env, pass.reads);
  for (const entry of entries) {
    const outcome = pass.outcomes.get(keyOf(entry));
    const isPortable = stage === undefined || !JSON.stringify(outcome ?? null).includes(stage);
    if (outcome !== undefined && isPortable) known.keep(entry, env, outcome);
  }
}

/** Runs all entries by themselves, going on in a new process behind each one that stopped the last. */
async function runGuarded(
  session: EvaluationSession,
  linked: Linked,
  entries: readonly EvaluationEntry[],
  runOf: (rest: { readonly entries: readonly EvaluationEntry[] }) => EvaluationRun,
): Promise<readonly RunResult[]> {
  let left = entries.map((entry) => ({ ...entry, needs: closureOf(linked, entry) }));
  const results: RunResult[] = [];
  while (left.length > 0) {
    const result = await session.run(runOf({ entries: left }));
    if (result.report !== undefined || result.unfinished === undefined) return [...results, result];
    const { unfinished, module } = result;
    const failure = { ...failureOf(result), ...(module === undefined ? {} : { module }) };
    results.push({ ...result, outcomes: [...result.outcomes, { ...unfinished, problems: [], failure }] });
    const ended = new Set([...result.outcomes, unfinished].map(keyOf));
    left = left.filter((entry) => !ended.has(keyOf(entry)) && !(module !== undefined && entry.needs.includes(module)));
  }
  return results;
}

/** Keys of every module that an entry reaches. */
export function closureOf(
  linked: Linked,
  { slug, id }: { readonly slug: string; readonly id: string },
): readonly string[] {
  const start = linked.files.get(keyOf({ slug, id }));
  const seen = new Set<string>();
  const queue = start === undefined ? [] : [start];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    queue.push(...(linked.imports.get(next) ?? []));
  }
  return [...seen];
}

function isClean({ report }: RunResult): boolean {
  return report !== undefined && report.failure === undefined && report.incidents.length === 0;
}

function failureOf({ report, stopped, output }: RunResult): Failure {
  if (report?.failure !== undefined) return report.failure;
  if (stopped?.reason === "timeout") return { kind: "timeout", message: "", stack: "" };
  const how = stopped?.reason === "died" ? stopped.how : "for a reason unknown";
  return { kind: "died", message: how, stack: output };
}

function passOf(results: readonly RunResult[], tracer: Tracer): Pass {
  const outcomes = new Map<string, EntryOutcome>();
  const reads: Record<string, readonly string[]> = {};
  for (const { outcomes: single, report } of results) {
    for (const outcome of [...single, ...(report?.outcomes ?? [])]) outcomes.set(keyOf(outcome), outcome);
    for (const [key, names] of Object.entries(report?.reads ?? {}))
      reads[key] = [...new Set([...(reads[key] ?? []), ...names])];
  }
  const incidents = results.flatMap(({ report }) => report?.incidents ?? []);
  return { outcomes, incidents, reads, tracer, output: results.map(({ output }) => output).join("") };
}
