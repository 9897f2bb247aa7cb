/** What `create` is given, checked: callers are project code and models, and either may be wrong. */
import type { ReminderCreate } from "../authoring/host.js";
import type { ReminderHandler } from "../authoring/reminders.js";
import type { JsonObject } from "../session/event.js";
import type { SessionRecord } from "../session/ports.js";
import { isJson } from "../tools/json-value.js";
import type { ReminderSources, StoredReminder } from "./contract.js";
import { handlerName } from "./handlers.js";
import { readTiming, TimingError } from "./timing.js";

/** Longest text of a reminder, in characters. */
const maxText = 100_000;

/** A reminder to be armed; with `run`, one that lives as long as the process. */
export interface Accepted {
  readonly reminder: StoredReminder;
  readonly run?: ReminderHandler;
}

/**
 * Checks a request and binds it to its conversation.
 *
 * @param record the session it is made in
 * @throws RuntimeError `invalid_request`, `unknown_handler`, `not_found` or `session_not_followable`
 */
export function accept(
  request: ReminderCreate,
  record: SessionRecord | undefined,
  sources: Pick<ReminderSources, "generation" | "sessions" | "record" | "makeId" | "clock" | "fail">,
): Accepted {
  const { fail, clock } = sources;
  const invalid = (message: string) => fail("invalid_request", message);
  if (typeof request !== "object" || request === null) throw invalid("a reminder is an object");
  const given = request as unknown as Readonly<Record<string, unknown>>;

  const text = (name: string): string | undefined => {
    const value = given[name] ?? undefined;
    if (value === undefined) return undefined;
    if (typeof value !== "string" || value.trim() === "") throw invalid(`${name} must be a non-empty text`);
    if (value.length > maxText) throw invalid(`${name} is longer than ${maxText} characters`);
    return value;
  };

  const purpose = text("purpose");
  if (purpose === undefined) throw invalid("purpose is missing: what the reminder is for, such as ci_recheck");
  const actions = ["prompt", "handler", "run"].filter((name) => (given[name] ?? undefined) !== undefined);
  if (actions.length !== 1) {
    const found = actions.length === 0 ? "none is given" : `${actions.join(" and ")} are given`;
    throw invalid(`a reminder has exactly one of prompt, handler and run; ${found}`);
  }
  const prompt = text("prompt");
  const until = text("until");
  const { run, handler } = given;
  if (run !== undefined && run !== null && typeof run !== "function") throw invalid("run must be a function");
  const name = handler === undefined || handler === null ? undefined : requireHandler(handler, sources);
  const args = readArgs(given.args, prompt !== undefined, invalid);
  const bound = bind(text("channelId"), text("continuationToken"), record, sources);

  const reminder: StoredReminder = {
    id: sources.makeId("rem_"),
    purpose,
    sessionId: bound.id,
    channelId: bound.channelId,
    createdAt: new Date(clock.now()).toISOString(),
    ...readTimingOr(given, clock.now(), invalid),
    ...(prompt !== undefined && { prompt }),
    ...(name !== undefined && { handler: name }),
    ...(args !== undefined && { args }),
    ...(until !== undefined && { until }),
  };
  return typeof run === "function" ? { reminder, run: run as ReminderHandler } : { reminder };
}

function readTimingOr(given: Readonly<Record<string, unknown>>, now: number, invalid: (message: string) => Error) {
  try {
    return readTiming(given, now);
  } catch (error) {
    throw error instanceof TimingError ? invalid(error.message) : error;
  }
}

function requireHandler(given: unknown, { generation, fail }: Pick<ReminderSources, "generation" | "fail">): string {
  const code = generation();
  const name = handlerName(code, given);
  if (name !== undefined) return name;
  const available = code.agent.reminders.map((each) => each.name);
  const what = typeof given === "string" ? `no reminder handler named "${given}"` : "no such reminder handler";
  throw fail("unknown_handler", `${what}: pass the default export of a file in reminders/, or its name`, { available });
}

/** A copy: what the caller does with its object later changes nothing. */
function readArgs(given: unknown, hasPrompt: boolean, invalid: (message: string) => Error): JsonObject | undefined {
  if (given === undefined || given === null) return undefined;
  if (hasPrompt) throw invalid("a prompt takes no args: write what the model is to know into the prompt");
  if (typeof given !== "object" || Array.isArray(given) || !isJson(given)) {
    throw invalid("args must be an object of JSON values: dates as text, no functions, nothing undefined in lists");
  }
  return JSON.parse(JSON.stringify(given)) as JsonObject;
}

/** The conversation that is meant. */
function bind(
  channelId: string | undefined,
  token: string | undefined,
  own: SessionRecord | undefined,
  { sessions, record, fail }: Pick<ReminderSources, "sessions" | "record" | "fail">,
): SessionRecord {
  if (token === undefined) {
    if (own === undefined) {
      throw fail("invalid_request", "outside a session a reminder needs channelId and continuationToken");
    }
    if (channelId !== undefined && channelId !== own.channelId) {
      throw fail("invalid_request", `a conversation of channel "${channelId}" is named by its continuationToken too`);
    }
    return requireFollowable(own, fail);
  }
  const channel = channelId ?? own?.channelId;
  if (channel === undefined) throw fail("invalid_request", "channelId is missing: the channel of the conversation");
  // Both forms are met: the bare key that channel code sees, and the wire form that HTTP answers have.
  const id =
    sessions.findByKey(channel, token) ??
    sessions.findByToken(token.startsWith(`${channel}:`) ? token : `${channel}:${token}`);
  const found = id === undefined ? undefined : record(id);
  if (found === undefined || found.channelId !== channel) {
    throw fail("not_found", `channel "${channel}" has no conversation "${token}"`);
  }
  return requireFollowable(found, fail);
}

function requireFollowable(record: SessionRecord, fail: ReminderSources["fail"]): SessionRecord {
  if (record.mode !== "task") return record;
  throw fail("session_not_followable", "a task session runs once: nothing can wake it");
}
