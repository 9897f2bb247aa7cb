/**
 * One firing, step by step. A process may die between any two of them:
 *
 * - A prompt is noted as being sent, sent under a key, and then done with. The session knows the key again, so that a
 *   firing which is taken up after a crash sends the prompt if it was not sent, and nothing if it was.
 * - A handler is done with before it runs: nobody can tell what half a run has done, so it is not begun again.
 */
import type { ReminderHandler, ReminderOutcome, ReminderRunArgs } from "../authoring/reminders.js";
import type { JsonObject } from "../session/event.js";
import { sessionInfo } from "../tools/context.js";
import { messageOf } from "../tools/result.js";
import type { ReminderSources, StoredReminder } from "./contract.js";
import { following } from "./timing.js";
import { cancelReminderName } from "./tools.js";

/** The reminders that are armed, as a firing changes them. */
export interface Armed {
  get(id: string): StoredReminder | undefined;
  keep(reminder: StoredReminder): Promise<void>;
  drop(id: string): Promise<boolean>;
}

/** What came of a firing; `error` is what a handler threw. */
export interface Fired {
  readonly action: ReminderOutcome["action"];
  readonly sessionIds: readonly string[];
  readonly error?: unknown;
}

export interface Firing {
  /**
   * Carries one firing out. Rejects when it could not be begun, or not be ended: then it is to be tried again.
   *
   * @param byHand a name for a firing that is asked for; left out: the due time's
   */
  fire(reminder: StoredReminder, handler: ReminderHandler | undefined, byHand: string | undefined): Promise<Fired>;
}

/**
 * How old a firing may be that is taken up again, in milliseconds. Sessions know a key for 24 hours; after that, sending
 * might be sending twice.
 */
const knownMs = 23 * 60 * 60 * 1000;

/** Why a conversation takes no more messages, whatever is tried. */
const final = new Set(["not_found", "session_not_followable"]);

export function createFiring(sources: ReminderSources, armed: Armed): Firing {
  const { sessions, clock, log, signal, fail } = sources;

  /** Done with for this time: the next time is set, or the reminder is gone. What was cancelled meanwhile stays so. */
  async function finish(id: string): Promise<void> {
    const reminder = armed.get(id);
    if (reminder === undefined) return;
    const { firing: _, ...rest } = reminder;
    const nextAt = following(reminder, clock.now());
    if (nextAt === undefined) await armed.drop(id);
    else await armed.keep({ ...rest, nextAt });
  }

  async function sendPrompt(reminder: StoredReminder, byHand: string | undefined): Promise<Fired> {
    const { id, sessionId, purpose } = reminder;
    const now = clock.now();
    const begun = reminder.firing;
    const key = begun?.key ?? byHand ?? reminder.nextAt;
    if (begun === undefined) await armed.keep({ ...reminder, firing: { key, at: new Date(now).toISOString() } });
    else if (now - Date.parse(begun.at) > knownMs) {
      log("warn", `reminder ${id} (${purpose}): a firing of ${begun.at} was cut off long ago and is passed over`);
      await finish(id);
      return { action: "skip", sessionIds: [] };
    }
    if (armed.get(id) === undefined) return { action: "stop", sessionIds: [] };
    try {
      await sessions.wake(sessionId, messageFor(reminder), `reminder ${id} ${key}`);
    } catch (error) {
      if (!isFinal(error)) throw error;
      await endOf(reminder, error);
      throw error;
    }
    await finish(id);
    return { action: "delivered", sessionIds: [sessionId] };
  }

  async function endOf({ id, purpose }: StoredReminder, error: unknown): Promise<void> {
    log("warn", `reminder ${id} (${purpose}) is cancelled, its conversation is over: ${messageOf(error)}`);
    await armed.drop(id);
  }

  async function runHandler(reminder: StoredReminder, handler: ReminderHandler): Promise<Fired> {
    const { id, sessionId, purpose, until, args = {} } = reminder;
    const record = sources.record(sessionId);
    if (record === undefined) {
      const error = fail("not_found", `no session ${sessionId}`);
      await endOf(reminder, error);
      throw error;
    }
    await finish(id);
    const woken: string[] = [];
    const given: ReminderRunArgs = {
      args: JSON.parse(JSON.stringify(args)) as JsonObject,
      reminder: { id, purpose, ...(until !== undefined && { until }) },
      session: sessionInfo(record),
      host: sources.services(record),
      artifacts: sources.artifacts({ record, turnId: undefined }),
      signal,
      async followup({ message }) {
        if (typeof message !== "string" || message.trim() === "") {
          throw fail("invalid_request", "followup needs a message: a non-empty text");
        }
        await sessions.wake(sessionId, message);
        if (!woken.includes(sessionId)) woken.push(sessionId);
        return { sessionId };
      },
    };
    try {
      const action = actionOf(await handler(given));
      if (action === undefined) {
        log("warn", `reminder ${id} (${purpose}): its handler returned no { action: "delivered" | "skip" | "stop" }`);
      }
      if (action === "stop") await armed.drop(id);
      return { action: action ?? "delivered", sessionIds: woken };
    } catch (error) {
      log("error", `reminder ${id} (${purpose}) failed: ${messageOf(error)}`);
      return { action: "delivered", sessionIds: woken, error };
    }
  }

  /** What the session is told; with a standing condition, how to act on it. */
  function messageFor({ id, prompt = "", until, ...timing }: StoredReminder): string {
    if (until === undefined) return prompt;
    const { builtinTools, tools } = sources.generation().agent;
    const canCancel = builtinTools?.reminders === true && !tools.some(({ name }) => name === cancelReminderName);
    const isRecurring = timing.every !== undefined || timing.cron !== undefined;
    const how = isRecurring && canCancel ? ` If that holds, call ${cancelReminderName} with id "${id}".` : "";
    return `${prompt}\n\nThis reminder stands until: ${until}${how}`;
  }

  return {
    fire: (reminder, handler, byHand) =>
      handler === undefined ? sendPrompt(reminder, byHand) : runHandler(reminder, handler),
  };
}

function isFinal(error: unknown): boolean {
  return error instanceof Error && "code" in error && final.has(String(error.code));
}

/** Nothing returned is taken as done; a bare word as what it says. */
function actionOf(outcome: unknown): ReminderOutcome["action"] | undefined {
  if (outcome === undefined) return "delivered";
  const action: unknown =
    typeof outcome === "object" && outcome !== null && "action" in outcome ? outcome.action : outcome;
  return action === "delivered" || action === "skip" || action === "stop" ? action : undefined;
}
