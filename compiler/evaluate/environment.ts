/**
 * What a build may know of the environment: nothing. Definitions are evaluated without the names that project code
 * reads, and again with marked values in their place; what differs belongs to the running server. Decision 31.
 */
import type { Definition } from "../analyze/definition.js";
import { type Diagnostic, diagnostic } from "../diagnostics/diagnostic.js";
import { mergeFacts } from "./merge.js";
import { keyOf, type Pass } from "./passes.js";
import { type EntryOutcome, type EvaluationEntry, type Facts, pardonMark } from "./protocol.js";
import { nameOf, spanOfField } from "./report.js";

export type RunPass = (env: Readonly<Record<string, string>>) => Promise<Pass>;

export interface Settled {
  /** The pass whose failures are real. */
  readonly pass: Pass;
  /** Facts by entry key; none for those with real errors. */
  readonly facts: ReadonlyMap<string, Facts>;
  /** Keys of entries whose check waits for the environment of the running server. */
  readonly deferred: ReadonlySet<string>;
  /** Names without which the server can't start. */
  readonly required: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Read by Node and by command-line libraries; no part of what a project means. */
const ordinary =
  /^(?:NODE_.*|npm_.*|WATCH_REPORT_DEPENDENCIES|FORCE_COLOR|NO_COLOR|COLORTERM|TERM|TERM_PROGRAM|TMUX|CI|DEBUG|HOME|PATH|PWD|SHELL|USER|TZ|LANG|LC_.*|TMPDIR|TEMP|TMP)$/;

/** Most names that are tried one by one to find those that matter. */
const trialLimit = 40;

/** Evaluates with `run` as a build has to, from what `names` static analysis found. `marks`: see `mergeFacts`. */
export async function settleEnvironment(
  run: RunPass,
  entries: readonly EvaluationEntry[],
  definitions: ReadonlyMap<string, Definition>,
  names: readonly string[],
  marks: readonly string[],
): Promise<Settled> {
  const bare = await run({});
  const all = namesOf(names, bare);
  if (all.length === 0) return settle(bare, [bare], [], entries, definitions, marks);
  const url = await run(sentinels(all, urlSentinel));
  const passes = [bare, url];
  const unclear = entries.some((entry) => !isSound(url.outcomes.get(keyOf(entry)), url));
  if (unclear) passes.push(await run(sentinels(all, numberSentinel)));
  const waiting = entries.filter((entry) => !isSound(bare.outcomes.get(keyOf(entry)), bare));
  const checks = [...(await runOtherwise(run, all, waiting, passes.slice(1)))];
  if (waiting.some((entry) => isUnmounted(entry, passes))) {
    // No made-up settings please the mount (a token has to start with `bk_`): its modules are read with refused ones.
    passes.push(await run({ ...sentinels(all, urlSentinel), [pardonMark]: "1" }));
    checks.push(await run({ ...sentinels(all, otherSchemeSentinel), [pardonMark]: "1" }));
  }
  const settled = settle(bare, passes, checks, entries, definitions, [
    ...marks,
    ...all.flatMap((name) => [urlSentinel(name), numberSentinel(name)]),
  ]);
  if (settled.deferred.size === 0) return settled;
  const required = await findRequired(run, passes, entries, definitions, settled.deferred);
  return {
    ...settled,
    required,
    diagnostics: [...settled.diagnostics, ...deferrals(settled.deferred, definitions, required, bare)],
  };
}

/** Whether nothing but the settings of its mount keeps an entry from being read. */
function isUnmounted(entry: EvaluationEntry, passes: readonly Pass[]): boolean {
  return passes.every((pass) => pass.outcomes.get(keyOf(entry))?.failure?.kind === "unmounted");
}

/**
 * Evaluates with other values for those that only load with made-up ones: what a transformation made of such a value (a
 * name in capitals, its first letters, a hash) holds no mark, and shows only in that it differs.
 */
async function runOtherwise(
  run: RunPass,
  names: readonly string[],
  waiting: readonly EvaluationEntry[],
  passes: readonly Pass[],
): Promise<readonly Pass[]> {
  const checks: Pass[] = [];
  const isSoundIn = (entry: EvaluationEntry) => (pass: Pass) => isSound(pass.outcomes.get(keyOf(entry)), pass);
  for (const { style, alike } of others) {
    const pass = passes[alike];
    if (pass === undefined) continue;
    const settled = [...passes.slice(0, alike), ...checks];
    const open = waiting.filter((entry) => isSoundIn(entry)(pass) && !settled.some(isSoundIn(entry)));
    if (open.length > 0) checks.push(await run(sentinels(names, style)));
  }
  return checks;
}

function settle(
  bare: Pass,
  passes: readonly Pass[],
  checks: readonly Pass[],
  entries: readonly EvaluationEntry[],
  definitions: ReadonlyMap<string, Definition>,
  marks: readonly string[],
): Settled {
  const facts = new Map<string, Facts>();
  const deferred = new Set<string>();
  const diagnostics: Diagnostic[] = [];
  for (const entry of entries) {
    const key = keyOf(entry);
    const definition = definitions.get(key);
    const first = bare.outcomes.get(key);
    const others = passes.slice(1).map((pass) => ({ pass, outcome: pass.outcomes.get(key) }));
    const sound = others.find(({ pass, outcome }) => isSound(outcome, pass))?.outcome?.facts;
    if (isSound(first, bare) && first?.facts !== undefined) {
      const merged = mergeFacts(entry.kind, first.facts, sound ?? first.facts, marks);
      facts.set(key, merged.facts);
      if (definition !== undefined)
        diagnostics.push(...fixedFields(merged.fixed).map((field) => fixedField(definition, field)));
    } else if (sound !== undefined) {
      const check = checks.find((pass) => isSound(pass.outcomes.get(key), pass))?.outcomes.get(key)?.facts;
      const merged = mergeFacts(entry.kind, sound, check ?? sound, marks);
      facts.set(key, merged.facts);
      deferred.add(key);
      // A made-up value must not pass for what the bot is.
      if (definition !== undefined)
        diagnostics.push(
          ...fixedFields(merged.fixed).map((field) => fixedField(definition, field, "a stand-in for what that gives")),
        );
    } else if (others.some(({ outcome }) => complaint(outcome) !== complaint(first))) {
      deferred.add(key);
    }
  }
  return { pass: bare, facts, deferred, required: [], diagnostics };
}

/** Loaded, with facts, and nothing wrong. */
function isSound(outcome: EntryOutcome | undefined, pass: Pass): boolean {
  if (pass.failure !== undefined || outcome === undefined || outcome.failure !== undefined) return false;
  return outcome.facts !== undefined && outcome.problems.every(({ severity }) => severity === "warning");
}

function complaint(outcome: EntryOutcome | undefined): string {
  const { failure, problems = [] } = outcome ?? {};
  return JSON.stringify([failure?.kind, failure?.message, problems.map(({ message }) => message)]);
}

/** Names that matter to an entry that can't load without them: each is left out in turn, to see whether it is missed. */
async function findRequired(
  run: RunPass,
  passes: readonly Pass[],
  entries: readonly EvaluationEntry[],
  definitions: ReadonlyMap<string, Definition>,
  deferred: ReadonlySet<string>,
): Promise<readonly string[]> {
  const waiting = entries.filter((entry) => deferred.has(keyOf(entry)));
  const own = waiting.flatMap((entry) => definitions.get(keyOf(entry))?.env ?? []).map(({ name }) => name);
  const read = new Set(passes.flatMap((pass) => Object.values(pass.reads).flat()));
  const candidates = namesOf(own, ...passes).filter((name) => read.has(name));
  const style = [urlSentinel, numberSentinel].find((_, index) => {
    const pass = passes[index + 1];
    return pass !== undefined && waiting.every((entry) => isSound(pass.outcomes.get(keyOf(entry)), pass));
  });
  if (candidates.length > trialLimit) return candidates;
  if (style === undefined) return findComplained(run, passes[0], waiting, candidates);
  const required: string[] = [];
  for (const name of candidates) {
    const pass = await run(
      sentinels(
        candidates.filter((each) => each !== name),
        style,
      ),
    );
    if (waiting.some((entry) => !isSound(pass.outcomes.get(keyOf(entry)), pass))) required.push(name);
  }
  return required;
}

/**
 * Where no made-up value satisfies an entry (a token has to start with `bk_`): the names with which the complaint is
 * another one. Those that have a default change nothing about it.
 */
async function findComplained(
  run: RunPass,
  bare: Pass | undefined,
  waiting: readonly EvaluationEntry[],
  candidates: readonly string[],
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const name of candidates) {
    const pass = await run(sentinels([name], urlSentinel));
    const says = (entry: EvaluationEntry) => complaint(pass.outcomes.get(keyOf(entry)));
    if (waiting.some((entry) => says(entry) !== complaint(bare?.outcomes.get(keyOf(entry))))) found.push(name);
  }
  return found.length > 0 ? found : candidates;
}

function namesOf(names: readonly string[], ...passes: readonly Pass[]): readonly string[] {
  const read = passes.flatMap((pass) => Object.values(pass.reads).flat()).filter((name) => !ordinary.test(name));
  return [...new Set([...names, ...read])].sort();
}

function sentinels(names: readonly string[], style: (name: string) => string): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, style(name)]));
}

/** Fits most of what reads text: a URL, a path, a token. */
function urlSentinel(name: string): string {
  return `https://${name.toLowerCase().replaceAll("_", "-")}.bdk-sentinel.invalid`;
}

/** Nothing at its start is the same. */
function otherSchemeSentinel(name: string): string {
  return `wss://${name.toLowerCase().replaceAll("_", "-")}-otherwise.invalid/a/longer/path`;
}

/** For what takes no other scheme. */
function otherHostSentinel(name: string): string {
  return `https://otherwise-${name.toLowerCase().replaceAll("_", "-")}.invalid/path`;
}

/** Fits what reads numbers. */
function numberSentinel(name: string): string {
  let sum = 7;
  for (const character of name) sum = (sum * 31 + character.charCodeAt(0)) % 9_000;
  return String(41_000 + sum);
}

function otherNumberSentinel(name: string): string {
  return String(2 * Number(numberSentinel(name)) + 1);
}

/** Other values, and which of the passes with made-up ones (0: text, 1: numbers) has those that are like them. */
const others = [
  { style: otherSchemeSentinel, alike: 0 },
  { style: otherHostSentinel, alike: 0 },
  { style: otherNumberSentinel, alike: 1 },
];

/** Whole fields: further in, a path may be made of what the environment was said to hold. */
function fixedFields(paths: readonly string[]): readonly string[] {
  return [...new Set(paths.map((path) => path.split(".", 1)[0] ?? path))];
}

function fixedField(definition: Definition, field: string, held = "its value without that"): Diagnostic {
  const names = behind(definition, field);
  const from = names.length === 0 ? "the environment" : names.join(", ");
  return diagnostic("environmentInShape", {
    message: `${nameOf(definition)}: ${field} depends on ${from}, but is fixed when the project is built`,
    at: spanOfField(definition, field),
    help: `the manifest holds ${held}; read ${names.length === 1 ? "it" : "them"} where the work is done`,
  });
}

/** Names that a field is made of: those that stand in it, else all that the definition's modules read. */
function behind({ env }: Definition, field: string): readonly string[] {
  const within = env.filter(({ field: of }) => of === field || of?.startsWith(`${field}.`));
  const chosen = within.length > 0 ? within : env.filter(({ field: of }) => of === undefined);
  return [...new Set(chosen.map(({ name }) => name))].filter((name) => !ordinary.test(name));
}

function deferrals(
  deferred: ReadonlySet<string>,
  definitions: ReadonlyMap<string, Definition>,
  required: readonly string[],
  bare: Pass,
): readonly Diagnostic[] {
  return [...deferred].flatMap((key) => {
    const definition = definitions.get(key);
    if (definition === undefined) return [];
    const outcome = bare.outcomes.get(key);
    // Its mount waits too, and says why.
    if (outcome?.failure?.kind === "unmounted") return [];
    const reason = outcome?.failure?.message ?? outcome?.problems[0]?.message ?? "it does not load";
    const reads = new Set(definition.env.map(({ name }) => name));
    const own = required.filter((name) => reads.has(name));
    const [place] = bare.tracer.frames(outcome?.failure?.stack ?? "");
    return diagnostic("deferredToStartup", {
      message: `${nameOf(definition)} can't be checked without its environment: ${reason}`,
      at: place ?? definition.span,
      help: `the server will not start without ${(own.length > 0 ? own : required).join(", ") || "it"}`,
    });
  });
}
