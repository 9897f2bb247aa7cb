/** `ask` and `check`: a message handed to the agent, and how long to wait for what comes of it. */
import { RuntimeError } from "../errors.js";
import type { AgentMount } from "../http/context.js";
import type { SessionEvent } from "../session/event.js";
import type { Caller } from "../session/service.js";
import type { McpCall } from "./endpoint.js";
import type { Fields } from "./message.js";
import { type AskReport, describeEvent, SessionWatch } from "./session-watch.js";

/** Seconds that `ask` waits unless it is told; below the minute after which clients lose patience. */
export const defaultWaitSeconds = 45;

/** Most seconds that one call waits; what is more is taken for this. */
export const maxWaitSeconds = 300;

/** How often a waiting client that wants progress is told that the agent is at work, in milliseconds. */
const beatMs = 10_000;

/** Times that a message is offered to a session that others write to at the same time. */
const maxAttempts = 5;

/** Hands a message to the agent: in a new session, or in one of the caller's, whose running turn it interrupts. */
export async function ask(agent: AgentMount, call: McpCall): Promise<AskReport> {
  const { args } = call;
  const { message } = args;
  if (typeof message !== "string" || message.trim() === "") {
    throw new RuntimeError("invalid_input", '"message" must be a text that is not empty');
  }
  const waitMs = waitOf(args, defaultWaitSeconds);
  const known = args.sessionId === undefined || args.sessionId === null ? undefined : sessionIdOf(args);
  const { caller } = call;
  const startIndex = known === undefined ? 0 : (await agent.sessions.position(caller, known)).next;
  const { sessionId } =
    known === undefined
      ? await agent.sessions.create(caller, { message, channelId: "http" })
      : await followUp(agent, caller, known, message);
  return waitFor(agent, call, { sessionId, startIndex, message }, waitMs);
}

/** Where the last message of a session stands, now or after waiting for it. */
export async function check(agent: AgentMount, call: McpCall): Promise<AskReport> {
  const { args } = call;
  const sessionId = sessionIdOf(args);
  const waitMs = waitOf(args, 0);
  const { turn } = await agent.sessions.position(call.caller, sessionId);
  return waitFor(agent, call, { sessionId, startIndex: turn }, waitMs);
}

/** Continues a session by what identifies it; its token is only the way in, and changes when others write too. */
async function followUp(
  { sessions }: AgentMount,
  caller: Caller,
  sessionId: string,
  message: string,
): Promise<{ readonly sessionId: string }> {
  for (let attempt = 1; ; attempt += 1) {
    const { continuationToken } = await sessions.get(caller, sessionId);
    if (continuationToken === null) {
      throw new RuntimeError("session_not_followable", "the session takes no further messages");
    }
    try {
      return await sessions.followUp(caller, { sessionId, continuationToken, message });
    } catch (error) {
      const isStale = error instanceof RuntimeError && error.code === "stale_continuation_token";
      if (!isStale || attempt === maxAttempts) throw error;
    }
  }
}

/** What is waited for: a message of one's own, or whatever is the last. */
interface Awaited {
  readonly sessionId: string;
  /** Where in the session's log to begin. */
  readonly startIndex: number;
  readonly message?: string;
}

async function waitFor(
  { sessions }: AgentMount,
  call: McpCall,
  { sessionId, startIndex, message }: Awaited,
  waitMs: number,
): Promise<AskReport> {
  const { caller, progress } = call;
  const gaveUp = call.signal;
  let told = 0;
  const tell = (text: string) => {
    told += 1;
    progress?.(told, undefined, text);
  };
  const onEvent = (event: SessionEvent) => {
    const text = describeEvent(event);
    if (text !== undefined) tell(text);
  };
  const watch = new SessionWatch(sessions, caller, sessionId, {
    startIndex,
    ...(message !== undefined && { message }),
    signal: waitMs === 0 ? AbortSignal.abort() : AbortSignal.any([gaveUp, AbortSignal.timeout(waitMs)]),
    ...(progress && { onEvent }),
  });
  const beat = progress && setInterval(() => tell("at work"), beatMs);
  try {
    const report = await watch.report();
    // A client that takes its request back takes back the turn that it began, and no one else's.
    if (call.isTakenBack && message !== undefined && watch.isStillOurs) await sessions.stop(caller, sessionId);
    return report;
  } finally {
    clearInterval(beat);
  }
}

/** @throws RuntimeError for anything that can't be an id, before it comes near a disk */
function sessionIdOf({ sessionId }: Fields): string {
  if (typeof sessionId !== "string") throw new RuntimeError("invalid_input", '"sessionId" must be a string');
  if (!/^ses_[A-Za-z0-9_-]{1,96}$/.test(sessionId)) throw new RuntimeError("not_found", "no such session");
  return sessionId;
}

function waitOf({ waitSeconds }: Fields, otherwise: number): number {
  if (waitSeconds === undefined || waitSeconds === null) return otherwise * 1000;
  if (typeof waitSeconds !== "number" || !(waitSeconds >= 0)) {
    throw new RuntimeError("invalid_input", `"waitSeconds" must be a number from 0 to ${maxWaitSeconds}`);
  }
  // Timers know whole milliseconds; a wait that is none at all is only 0.
  return Math.ceil(Math.min(waitSeconds, maxWaitSeconds) * 1000);
}
