import type { Rejection, SessionDeps } from "./ports.js";
import type { SessionRunner } from "./runner.js";
import type { Caller } from "./service.js";

/** Conversations by their channel's own keys. */
export interface SessionKeys {
  /** Id of the conversation that a channel's key names. */
  findByKey(channelId: string, key: string): string | undefined;
  /**
   * Gives a channel's conversation another key. Throws `not_found` for a session of another channel,
   * `session_not_followable` for a task, and `token_in_use` for a key that names another conversation.
   */
  rekey(channelId: string, sessionId: string, key: string): Promise<void>;
}

/** The host itself, which may do with any session what its channel asks for. */
const host: Caller = { owner: "app:host", seesAll: true, auth: { kind: "app", id: "host" } };

export function createSessionKeys(
  { store }: Pick<SessionDeps, "store">,
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
  };
}
