import { claimRecord, type Idempotency } from "./idempotency.js";
import type { Rejection, SessionDeps } from "./ports.js";
import type { SessionRunner } from "./runner.js";
import type { Caller } from "./service.js";
import type { TokenBook } from "./token-book.js";

/** Conversations by their channel's own keys. */
export interface SessionKeys {
  /** Id of the conversation that a channel's key names. */
  findByKey(channelId: string, key: string): string | undefined;
  /**
   * Gives a channel's conversation another key. Throws `not_found` for a session of another channel,
   * `session_not_followable` for a task, and `token_in_use` for a key that names another conversation.
   */
  rekey(channelId: string, sessionId: string, key: string): Promise<void>;
  /** Id of the conversation that a continuation token in its wire form names now. */
  findByToken(token: string): string | undefined;
  /**
   * Sends a message on the host's own behalf, without a token; resolves when it is durable. It joins a turn that runs.
   * A message of the same `key` within 24 hours is sent once, whatever dies meanwhile.
   */
  wake(sessionId: string, message: string, key?: string): Promise<void>;
}

/** The host itself, which may do with any session what its channel asks for. */
const host: Caller = { owner: "app:host", seesAll: true, auth: { kind: "app", id: "host" } };

export function createSessionKeys(
  { store, log }: Pick<SessionDeps, "store" | "log">,
  tokens: TokenBook,
  idempotency: Idempotency,
  requireRunner: (caller: Caller, id: string) => Promise<SessionRunner>,
  forget: (id: string) => void,
  refuse: (code: Rejection["code"], message: string) => Error,
): SessionKeys {
  const { index } = store;
  return {
    findByKey(channelId, key) {
      const id = index.byKey(channelId, key)?.id;
      if (id === undefined || store.exists(id)) return id;
      forget(id);
      return undefined;
    },

    async rekey(channelId, sessionId, key) {
      const row = index.get(sessionId);
      if (row?.channelId !== channelId) throw refuse("not_found", `channel ${channelId} has no session ${sessionId}`);
      if (row.mode === "task") throw refuse("session_not_followable", "a task session has no continuation key");
      const runner = await requireRunner(host, sessionId);
      const holder = index.byKey(channelId, key);
      if (holder !== undefined && holder.id !== sessionId) {
        throw refuse("token_in_use", `another session of channel ${channelId} has this continuation token`);
      }
      if (holder === undefined) runner.rekey(key);
    },

    findByToken(token) {
      const row = tokens.find(token);
      return row === undefined || row === "malformed" ? undefined : row.id;
    },

    async wake(sessionId, message, key) {
      await idempotency.once(key === undefined ? undefined : `${host.owner} ${sessionId} ${key}`, async (claim) => {
        const runner = await requireRunner(host, sessionId);
        const beforeRecord = claimRecord(claim, sessionId, log);
        const messages = await runner.receive({ text: message, admission: "coalesce", beforeRecord });
        tokens.rotated(runner.row, messages);
        return { sessionId, messages };
      });
    },
  };
}
