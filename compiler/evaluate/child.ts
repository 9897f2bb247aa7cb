/**
 * The evaluation child: loads linked project text and tells what its definitions say. It is a process of its own, so
 * whatever the project does while loading ends with it.
 */
import { join } from "node:path";
import { compileFunction } from "node:vm";
import {
  type Definitions,
  type ProjectFunction,
  projectClosing,
  projectOpening,
  runProject,
} from "../../runtime/manifest/project-scope.js";
import { textImports } from "../../runtime/manifest/text-imports.js";
import { describeDefinition, type Locate } from "./describe/definition.js";
import { describeError } from "./describe/error.js";
import {
  type ChildMessage,
  type EntryOutcome,
  type EvaluationEntry,
  type EvaluationRun,
  type Failure,
  pardonMark,
} from "./protocol.js";
import { Watch } from "./watch.js";

/** What the text is called in stacks. */
export const textName = "/bdk-project.js";

const timedOut = Symbol("timed out");

function send(message: ChildMessage): void {
  process.send?.(message);
}

async function evaluate(run: EvaluationRun, watch: Watch): Promise<void> {
  const outcomes: EntryOutcome[] = [];
  const byId = new Map(run.entries.map((entry) => [`${entry.slug}\0${entry.id}`, entry]));
  const stuck = new Set<string>();
  let failure: Failure | undefined;

  const guard = async (
    slug: string,
    id: string,
    load: () => Promise<{ readonly default?: unknown }>,
  ): Promise<void> => {
    const entry = byId.get(`${slug}\0${id}`);
    if (entry === undefined || entry.needs.some((key) => stuck.has(key))) return;
    send({ type: "loading", slug, id });
    const outcome = await within(run.timeoutMs, load)
      .then(async (loaded): Promise<EntryOutcome> => {
        if (loaded !== timedOut) return describeDefinition(entry, loaded.default, locate);
        const late = watch.failure("timeout", "");
        if (late.module !== undefined) stuck.add(late.module);
        return { slug, id, problems: [], failure: late };
      })
      .catch((error: unknown): EntryOutcome => ({ slug, id, ...describeError(error, watch) }));
    send({ type: "entry", outcome });
  };
  const { locate, ...around } = surroundings(run);
  const extra = {
    guard,
    module: (key: string, body: () => unknown) => watch.module(key, body),
  };

  const { [pardonMark]: pardoned, ...env } = run.env;
  Reflect.set(globalThis, Symbol.for("@cursor/bdk/pardoned-settings"), pardoned !== undefined);
  watch.setEnvironment(env);
  try {
    const text = compileFunction(`${projectOpening}\n${run.text}${projectClosing}`, ["__bdk"], {
      filename: textName,
      importModuleDynamically: textImports(),
    }) as ProjectFunction;
    const loading = runProject(text, { locate, ...around }, extra);
    if (run.guarded) {
      await loading;
    } else {
      const definitions = await within(run.timeoutMs, () => loading);
      if (definitions === timedOut) failure = watch.failure("timeout", "");
      else outcomes.push(...(await describeAll(run.entries, definitions, locate)));
    }
  } catch (error) {
    failure = watch.failure("threw", error);
  }
  // Promises that the modules left behind are rejected within this turn of the loop, if at all.
  await new Promise((resolve) => setImmediate(resolve));
  const incidents = watch.incidents.splice(0);
  send({
    type: "report",
    report: { outcomes, incidents, reads: watch.takeReads(), ...(failure === undefined ? {} : { failure }) },
  });
}

async function describeAll(
  entries: readonly EvaluationEntry[],
  definitions: Definitions,
  locate: Locate,
): Promise<EntryOutcome[]> {
  const outcomes: EntryOutcome[] = [];
  for (const entry of entries)
    outcomes.push(await describeDefinition(entry, definitions[entry.slug]?.[entry.id], locate));
  return outcomes;
}

function surroundings({ root, folders, externals, resolveFrom }: EvaluationRun) {
  const owner = (specifier: string) =>
    externals.find(({ name }) => specifier === name || specifier.startsWith(`${name}/`));
  return {
    locate: (key: string): string => {
      const prefix = Object.keys(folders).find((each) => each !== "" && key.startsWith(`${each}/`));
      return prefix === undefined ? join(root, key) : join(folders[prefix] ?? root, key.slice(prefix.length));
    },
    resolveFrom: (specifier: string): string => join(owner(specifier)?.from ?? resolveFrom, "bdk-project.js"),
    imports: externals.flatMap((each) => each.imports),
  };
}

/** The value, or `timedOut` when it takes longer. */
async function within<T>(ms: number, work: () => Promise<T>): Promise<T | typeof timedOut> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof timedOut>((resolve) => {
    timer = setTimeout(resolve, ms, timedOut);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}

const watch = new Watch((key) => send({ type: "module", key }));
watch.install();
let queue: Promise<void> = Promise.resolve();
process.on("message", (run: EvaluationRun) => {
  queue = queue.then(() => evaluate(run, watch));
});
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
send({ type: "ready" });
