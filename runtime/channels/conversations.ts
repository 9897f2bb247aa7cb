/** Sessions as channels open and continue them. */
import type { ChannelSession, Completion, Receive } from "../authoring/channels.js";
import type { SessionAuth } from "../authoring/host.js";
import type { SessionEvent } from "../session/event.js";
import type { Caller } from "../session/service.js";
import type { ChannelSources, RunningChannel } from "./contract.js";
import type { PackSendOptions } from "./packs.js";
import { problemOfSend } from "./send-options.js";

/** The channel's own code: it may continue whatever session its key names. */
export function callerOf(auth: SessionAuth): Caller {
  return { owner: `${auth.kind}:${auth.id}`, seesAll: true, auth };
}

export const hostCaller: Caller = callerOf({ kind: "app", id: "host" });

export interface Conversations {
  send(
    channel: Pick<RunningChannel, "id">,
    auth: SessionAuth,
    message: string,
    options?: PackSendOptions,
  ): Promise<ChannelSession>;
  /** A session of this channel; `undefined` for any other. */
  get(channel: Pick<RunningChannel, "id">, sessionId: string): Promise<ChannelSession | undefined>;
  readonly receive: Receive;
}

export function createConversations(
  { sessions, fail }: ChannelSources,
  find: (definition: unknown) => RunningChannel | undefined,
): Conversations {
  /** Messages of one conversation go in one after another: two first ones must not make two sessions. */
  const lines = new Map<string, Promise<unknown>>();

  function inLine<T>(line: string, act: () => Promise<T>): Promise<T> {
    const done = (lines.get(line) ?? Promise.resolve()).then(act);
    const settled = done.catch(() => undefined);
    lines.set(line, settled);
    void settled.then(() => {
      if (lines.get(line) === settled) lines.delete(line);
    });
    return done;
  }

  async function deliver(
    channelId: string,
    auth: SessionAuth,
    message: string,
    options: PackSendOptions,
  ): Promise<ChannelSession> {
    const {
      continuationToken: key,
      title,
      admission,
      workspaceFiles,
      workspaceDir,
      mode,
      idempotencyKey,
      dryRun,
    } = options;
    const caller = callerOf(auth);
    const same = {
      message,
      ...(workspaceFiles !== undefined && { workspaceFiles }),
      ...(idempotencyKey !== undefined && { idempotencyKey: `${channelId} ${idempotencyKey}` }),
    };
    const create = async () => {
      const { sessionId } = await sessions.create(caller, {
        ...same,
        channelId,
        ...(key !== undefined && { continuationKey: key }),
        ...(title !== undefined && { title }),
        ...(mode !== undefined && { mode }),
        ...(dryRun !== undefined && { dryRun }),
        ...(workspaceDir !== undefined && { workspaceDir }),
      });
      return toSession(sessionId, mode === "task" ? undefined : key);
    };
    const known = key === undefined ? undefined : sessions.findByKey(channelId, key);
    if (known === undefined) return create();
    // It may have been this very message that began the conversation: then its creation is what was claimed.
    const begun = idempotencyKey === undefined ? undefined : await create().catch(unlessTaken);
    if (begun !== undefined) return begun;
    const { sessionId } = await sessions.followUp(caller, {
      ...same,
      sessionId: known,
      continuationToken: `${channelId}:${key}`,
      ...(admission !== undefined && { admission }),
    });
    return toSession(sessionId, key);
  }

  async function send(
    channel: Pick<RunningChannel, "id">,
    auth: SessionAuth,
    message: string,
    options: PackSendOptions = {},
  ): Promise<ChannelSession> {
    const owner = options.auth ?? auth;
    const problem = problemOfSend(channel.id, message, owner, options);
    if (problem !== undefined) throw fail(problem.code, problem.message);
    const { continuationToken: key } = options;
    if (key === undefined) return deliver(channel.id, owner, message, options);
    return inLine(`${channel.id}:${key}`, () => deliver(channel.id, owner, message, options));
  }

  function toSession(id: string, key: string | undefined): ChannelSession {
    return {
      id,
      ...(key !== undefined && { continuationToken: key }),
      async waitForCompletion() {
        await sessions.settled(id);
        return completionOf(await sessions.read(hostCaller, id, 0));
      },
    };
  }

  return {
    send,
    async get({ id }, sessionId) {
      const summary = await sessions.get(hostCaller, sessionId).catch((error: unknown) => {
        if (error instanceof Error && "code" in error && error.code === "not_found") return undefined;
        throw error;
      });
      if (summary?.channelId !== id) return undefined;
      const own = summary.continuationToken?.startsWith(`${id}:`) === true;
      return toSession(sessionId, own ? summary.continuationToken?.slice(id.length + 1) : undefined);
    },
    async receive(definition, { message, auth, target, ...options }) {
      const channel = find(definition);
      if (channel === undefined) {
        throw fail("not_found", "receive was given a channel that is not in the project's channels/ folder");
      }
      if (target === undefined) return send(channel, auth, message, options);
      const route = channel.pack?.route;
      if (route === undefined) {
        throw fail("invalid_request", `channel "${channel.id}" takes no target: name the conversation by its key`);
      }
      return send(channel, auth, message, { ...options, ...(await route({ auth, message, target, ...options })) });
    },
  };
}

/** The conversation is there, and nothing was claimed: `undefined`. */
function unlessTaken(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === "token_in_use") return undefined;
  throw error;
}

/** How the session's last turn ended. */
async function completionOf(batches: AsyncIterable<readonly string[]>): Promise<Completion> {
  let last: SessionEvent<"turn.completed" | "turn.failed"> | undefined;
  for await (const lines of batches) {
    for (const line of lines) {
      if (line.startsWith('{"type":"turn.completed"') || line.startsWith('{"type":"turn.failed"')) {
        last = JSON.parse(line) as typeof last;
      }
    }
  }
  if (last === undefined) return { status: "error", errorMessage: "no turn of the session has ended" };
  if (last.type === "turn.failed") {
    return { status: last.data.status === "cancelled" ? "cancelled" : "error", errorMessage: last.data.message };
  }
  const { result } = last.data;
  if (result === undefined) return { status: "finished" };
  return { status: "finished", result: typeof result === "string" ? result : JSON.stringify(result) };
}
