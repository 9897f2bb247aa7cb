/** Named handlers: what is in `reminders/`, by name or by what a file of it exports. */
import type { ReminderHandler } from "../authoring/reminders.js";
import type { AgentGeneration } from "../manifest/bundle.js";

/** The handler of that name in the running code. */
export function handlerOf({ agent, definitions }: AgentGeneration, name: string): ReminderHandler | undefined {
  const entry = agent.reminders.find((each) => each.name === name);
  const definition = entry && (definitions[entry.id] as { readonly run?: unknown } | undefined);
  const run = definition?.run;
  return typeof run === "function" ? (args) => run.call(definition, args) as ReturnType<ReminderHandler> : undefined;
}

/**
 * Name of the handler that is meant: by its name, by the definition itself, or by the file that it was made in. A
 * program beside the server that imports `bot/reminders/recheck.ts` has a copy of its own of what the server runs.
 */
export function handlerName({ agent, definitions }: AgentGeneration, given: unknown): string | undefined {
  if (typeof given === "string") return agent.reminders.find(({ name }) => name === given)?.name;
  if (typeof given !== "object" || given === null) return undefined;
  const own = agent.reminders.find(({ id }) => definitions[id] === given);
  if (own !== undefined) return own.name;
  const stack: unknown = Reflect.get(given, "__madeAt");
  if (typeof stack !== "string") return undefined;
  const places = stack.split("\n").map(placeOf);
  return agent.reminders.find(({ source }) => {
    const file = `/${withoutEnding(source.replace(/:\d+$/, ""))}`;
    return places.some((place) => place.endsWith(file));
  })?.name;
}

/** Path of the file that a line of a stack names, without its ending: a program may run what was compiled from it. */
function placeOf(line: string): string {
  const path = /(?:\(|at (?:async )?)((?:file:\/\/)?\/?[^()]+?)(?:\?[^:)]*)?(?::\d+){1,2}\)?$/.exec(line)?.[1] ?? "";
  return withoutEnding(path.replaceAll("\\", "/"));
}

function withoutEnding(path: string): string {
  return path.replace(/\.[cm]?[jt]sx?$/, "");
}
