/**
 * The session service over its ports: who may do what, tokens, idempotency, listing. What a session does is in
 * `runner.ts`; how it is composed with the file store is in `runtime/storage/agent-sessions.ts`.
 */
import { isInstant } from "./as-of.js";
import { createDirectCalls } from "./direct-call.js";
import type { SessionEventData } from "./event.js";
import { copyEvents, readPrefix } from "./fork.js";
import { type Answer, claimRecord, createIdempotency, isMarked } from "./idempotency.js";
import { createSessionKeys, type SessionKeys } from "./keys.js";
import type { Listener } from "./observers.js";
import type { Claim, Rejection, SessionDeps, SessionRecord, SessionRow } from "./ports.js";
import { createRegistry } from "./registry.js";
import { type BeforeRecord, type RunnerContext, SessionRunner } from "./runner.js";
import type {
  Accepted,
  Caller,
  CreateSession,
  FollowUp,
  ForkSession,
  SessionService,
  SessionSummary,
} from "./service.js";
import { createTurnSlots } from "./slots.js";
import { createTokenBook } from "./token-book.js";
import { pendingApprovals } from "./views/approvals.js";
import { toSummary } from "./views/summary.js";

const defaultGraceMs = 10_000;

/** The service of one agent. Call `recover` once the host listens: it takes up what an earlier process left. */
export interface RunningSessions extends SessionService, SessionKeys {
  recover(): Promise<void>;
  /** Records that an artifact was tagged in a session; nothing when the session is gone. */
  announce(sessionId: string, turnId: string | undefined, data: SessionEventData["artifact.tagged"]): Promise<void>;
  exists(sessionId: string): boolean;
}

export function createSessionService(deps: SessionDeps): RunningSessions {
  const { store, clock, makeId, workspace } = deps;
  const { index } = store;
  const listeners = new Set<Listener>();
  const tokens = createTokenBook(index, deps.tokens);
  const slots = createTurnSlots();
  const context: RunnerContext = {
    deps,
    slots,
    listeners,
    token: tokens.current,
    onBroken: (runner, error) => registry.onBroken(runner, error),
  };
  const registry = createRegistry(context);
  const isKept = async ({ sessionId, messages, record }: Claim) => {
    if (index.get(sessionId) === undefined) return false;
    const runner = await registry.load(sessionId);
    if (runner === undefined || runner.state.messages < messages) return false;
    if (record === undefined) return true;
    // Another message may have taken the number of one that was claimed and never recorded.
    for await (const [line] of store.read(sessionId, record.index)) return isMarked(line, record);
    return false;
  };
  const idempotency = createIdempotency(index, clock.now, isKept, deps.log);
  const callTool = createDirectCalls(deps, tokens, requireOpen, requireRunner);
  let isClosing = false;
  store.onGone(forget);

  function refuse(code: Rejection["code"], message: string): Error {
    return deps.fail({ code, message });
  }

  function requireOpen(): void {
    if (isClosing) throw refuse("storage_unavailable", "the server is shutting down");
  }

  function forget(id: string): void {
    registry.abandon(new Error("the session was deleted"), id);
    index.forget(id);
  }

  /** The row of a session that exists and is the caller's. */
  function requireRow(caller: Caller, id: string): SessionRow {
    const row = index.get(id);
    if (row !== undefined && !store.exists(id)) forget(id);
    if (row === undefined || index.get(id) === undefined) throw refuse("not_found", `no session ${id}`);
    if (!caller.seesAll && row.owner !== caller.owner)
      throw refuse("forbidden", "this session belongs to someone else");
    return row;
  }

  async function requireRunner(caller: Caller, id: string): Promise<SessionRunner> {
    requireOpen();
    requireRow(caller, id);
    const runner = await registry.load(id);
    if (runner === undefined) {
      forget(id);
      throw refuse("not_found", `no session ${id}`);
    }
    return runner;
  }

  function accepted({ sessionId, messages }: { readonly sessionId: string; readonly messages: number }): Accepted {
    const row = index.get(sessionId);
    if (row === undefined) throw refuse("not_found", `no session ${sessionId}`);
    return { sessionId, continuationToken: tokens.of(row, messages) };
  }

  function newRecord(caller: Caller, request: CreateSession): SessionRecord {
    const { channelId, continuationKey, title, dryRun, asOf, workspaceDir } = request;
    if (asOf !== undefined && !isInstant(asOf)) {
      throw refuse("invalid_as_of", "asOf must be an ISO-8601 instant with a time zone, such as 2026-03-01T09:00:00Z");
    }
    if (continuationKey !== undefined && index.byKey(channelId, continuationKey) !== undefined) {
      throw refuse("token_in_use", `another session of channel ${channelId} has this continuation token`);
    }
    if (request.id !== undefined && index.get(request.id) !== undefined) {
      throw refuse("token_in_use", `there is a session ${request.id} already`);
    }
    return {
      id: request.id ?? makeId("ses_"),
      owner: caller.owner,
      auth: caller.auth,
      channelId,
      ...(continuationKey === undefined ? {} : { continuationKey }),
      mode: request.mode ?? "chat",
      purpose: request.purpose ?? "live",
      ...(title === undefined ? {} : { title }),
      ...(dryRun === undefined ? {} : { dryRun }),
      ...(asOf === undefined ? {} : { asOf }),
      ...(workspaceDir === undefined ? {} : { workspaceDir }),
      createdAt: new Date(clock.now()).toISOString(),
    };
  }

  function startedBy(record: SessionRecord): SessionEventData["session.started"] {
    const { mode, purpose, channelId, title, dryRun, asOf } = record;
    const { model, agentName, manifestHash } = deps.generation();
    return {
      mode,
      purpose,
      channelId,
      ...(title === undefined ? {} : { title }),
      ...(dryRun === undefined ? {} : { dryRun }),
      ...(asOf === undefined ? {} : { asOf }),
      model: model.id,
      agent: agentName,
      manifestHash,
    };
  }

  async function start(
    caller: Caller,
    request: CreateSession,
    claim: (sessionId: string) => void,
  ): Promise<SessionRunner> {
    const record = newRecord(caller, request);
    const { id } = record;
    const files = request.workspaceFiles && (await workspace.stage(id, request.workspaceFiles));
    try {
      files?.accept(1);
      claim(id);
      const runner = new SessionRunner(record, store.create(record), context);
      registry.add(runner);
      await runner.begin({
        do: "create",
        started: startedBy(record),
        text: request.message,
        ...(files === undefined ? {} : { files: files.paths }),
        turnId: makeId("turn_"),
      });
      return runner;
    } catch (error) {
      index.forget(id);
      await files?.discard();
      throw error;
    }
  }

  async function fork(caller: Caller, request: ForkSession, claim: (answer: Answer) => void): Promise<SessionRunner> {
    const { sessionId, atIndex, message } = request;
    const source = await requireRunner(caller, sessionId);
    const { events, isPast } = await readPrefix(store.read(sessionId, 0), atIndex);
    if (!isPast && atIndex > (events.at(-1)?.index ?? -1) + 1) {
      throw refuse("invalid_request", `atIndex ${atIndex} is beyond the session's last event`);
    }
    const messages = events.filter(({ type }) => type === "message.received").length;
    if (message === undefined && messages === 0) {
      throw refuse("invalid_request", "nothing was said before atIndex: message is required");
    }
    const { title, purpose, dryRun, asOf } = source.record;
    const record = newRecord(caller, {
      channelId: "http",
      message: message ?? "",
      purpose,
      ...(title === undefined ? {} : { title }),
      ...(dryRun === undefined ? {} : { dryRun }),
      ...(asOf === undefined ? {} : { asOf }),
    });
    const hand = await workspace.copy(source.record, record);
    try {
      const runner = new SessionRunner(record, store.create(record), context);
      hand();
      const started = { ...startedBy(record), forkedFrom: { sessionId, atIndex } };
      const copied = copyEvents(events, record, started);
      registry.add(runner);
      // Known by its message, or by all of what was said: a process that dies before these are recorded has forked nothing.
      if (message === undefined) claim({ sessionId: record.id, messages });
      const beforeRecord = claimRecord(claim, record.id, deps.log);
      await runner.beginFork(copied, message === undefined ? undefined : { text: message, beforeRecord });
      return runner;
    } catch (error) {
      index.forget(record.id);
      throw error;
    }
  }

  async function send(caller: Caller, request: FollowUp, beforeRecord: BeforeRecord): Promise<number> {
    const { sessionId, continuationToken, message, admission = "preempt", workspaceFiles } = request;
    const runner = await requireRunner(caller, sessionId);
    // An agent that was asked in a turn of this very session would interrupt it, and be asked again, without end.
    if ((caller.auth.hops ?? 0) > (runner.record.auth.hops ?? 0)) {
      throw refuse(
        "session_not_followable",
        "an agent can go on with sessions that agents began, and not with this one",
      );
    }
    const files = workspaceFiles && (await workspace.stage(sessionId, workspaceFiles));
    try {
      // From here to the record nothing waits: of two messages with one token, exactly one passes.
      runner.requireFollowable();
      if (!tokens.matches(runner.row, continuationToken)) {
        throw refuse(
          "stale_continuation_token",
          "this continuation token was used already; the latest answer has the next one",
        );
      }
      const messages = await runner.receive({ text: message, admission, beforeRecord, ...(files && { files }) });
      tokens.rotated(runner.row, messages);
      return messages;
    } catch (error) {
      await files?.discard();
      throw error;
    }
  }

  function* visibleRows(caller: Caller, cursor: string | undefined): Iterable<SessionRow> {
    for (const row of index.rows(cursor)) {
      if (!caller.seesAll && row.owner !== caller.owner) continue;
      if (store.exists(row.id)) yield row;
      else forget(row.id);
    }
  }

  return {
    async create(caller, request) {
      requireOpen();
      const { idempotencyKey } = request;
      const key = idempotencyKey === undefined ? undefined : `${caller.owner} ${idempotencyKey}`;
      const answer = await idempotency.once(key, async (claim) => {
        const runner = await start(caller, request, (sessionId) => claim({ sessionId, messages: 1 }));
        return { sessionId: runner.record.id, messages: 1 };
      });
      return accepted(answer);
    },

    async followUp(caller, request) {
      requireOpen();
      const { idempotencyKey, sessionId } = request;
      requireRow(caller, sessionId);
      const key = idempotencyKey === undefined ? undefined : `${caller.owner} ${sessionId} ${idempotencyKey}`;
      const answer = await idempotency.once(key, async (claim) => {
        // Claimed with the record: a server that dies before it can answer still knows that this message was taken.
        const beforeRecord = claimRecord(claim, sessionId, deps.log);
        return { sessionId, messages: await send(caller, request, beforeRecord) };
      });
      return accepted(answer);
    },

    async fork(caller, request) {
      requireOpen();
      const { idempotencyKey, sessionId } = request;
      requireRow(caller, sessionId);
      const key = idempotencyKey === undefined ? undefined : `${caller.owner} fork ${sessionId} ${idempotencyKey}`;
      const answer = await idempotency.once(key, async (claim) => {
        const { record, state } = await fork(caller, request, claim);
        return { sessionId: record.id, messages: state.messages };
      });
      return accepted(answer);
    },

    async stop(caller, sessionId) {
      const runner = await requireRunner(caller, sessionId);
      return { stopped: await runner.stop() };
    },

    async get(caller, sessionId) {
      const row = requireRow(caller, sessionId);
      return toSummary(row, tokens.current(row));
    },

    async position(caller, sessionId) {
      const { state } = await requireRunner(caller, sessionId);
      return { turn: state.since, next: state.nextIndex };
    },

    async list(caller, { limit, cursor }) {
      const sessions: SessionSummary[] = [];
      for (const row of visibleRows(caller, cursor)) {
        const last = sessions.at(-1);
        if (sessions.length >= limit && last !== undefined) return { sessions, nextCursor: last.id };
        sessions.push(toSummary(row, tokens.current(row)));
      }
      return { sessions };
    },

    async read(caller, sessionId, startIndex) {
      requireRow(caller, sessionId);
      return store.read(sessionId, startIndex);
    },

    async follow(caller, sessionId, startIndex, signal) {
      const { mode } = requireRow(caller, sessionId);
      const hasEnded = () => {
        const status = index.get(sessionId)?.status;
        return mode === "task" && (status === "completed" || status === "failed");
      };
      return store.follow(sessionId, startIndex, signal, hasEnded);
    },

    callTool,

    async approvals(caller, sessionId) {
      const runner = await requireRunner(caller, sessionId);
      return pendingApprovals(runner.state, deps.generation().codeHash);
    },

    async resolveApproval(caller, sessionId, callId, decision, confirm) {
      const runner = await requireRunner(caller, sessionId);
      await runner.resolve(callId, decision, caller.owner, confirm);
    },

    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    async settled(sessionId) {
      const row = index.get(sessionId);
      const runner = row?.open === true ? await registry.load(sessionId) : registry.peek(sessionId);
      await runner?.settled();
    },

    async announce(sessionId, turnId, data) {
      const runner = isClosing ? registry.peek(sessionId) : await registry.load(sessionId);
      await runner?.announce(turnId, data);
    },

    exists: (sessionId) => index.get(sessionId) !== undefined,

    ...createSessionKeys(deps, tokens, idempotency, requireRunner, forget, refuse),

    async recover() {
      for (const { id } of index.open()) {
        if (isClosing) return;
        try {
          if ((await registry.load(id)) === undefined) forget(id);
        } catch (error) {
          deps.log("error", `session ${id} could not be taken up again: ${String(error)}`);
        }
      }
    },

    async close(graceMs = defaultGraceMs) {
      isClosing = true;
      const settled = Promise.all([...registry.runners()].map((runner) => runner.settled()));
      let callOff = (): void => undefined;
      const late = new Promise<void>((resolve) => {
        callOff = clock.after(graceMs, resolve);
      });
      await Promise.race([settled, late]);
      callOff();
      registry.abandon(new Error("the server is shutting down"));
    },
  };
}
