import type { SessionIndex, SessionRow, TokenSigner } from "./ports.js";

/** Continuation tokens: what they are for a row, and which row one belongs to. */
export interface TokenBook {
  /** The token after `messages` messages; default: the current one. */
  of(row: SessionRow, messages?: number): string;
  /** `null` when the session takes no follow-ups. */
  current(row: SessionRow): string | null;
  matches(row: SessionRow, token: string): boolean;
  /** `malformed` when the text can't be a token at all. */
  find(token: string): SessionRow | "malformed" | undefined;
  /** Tells the book that a session's token has become the one after `messages` messages. */
  rotated(row: SessionRow, messages: number): void;
}

export function createTokenBook(index: SessionIndex, signer: TokenSigner): TokenBook {
  /** Rotating tokens say nothing of their session, so they are listed; made at the first look-up. */
  let listed: Map<string, string> | undefined;

  const isRotating = (row: SessionRow) => row.continuationKey === undefined;
  const of = (row: SessionRow, messages = row.messages) =>
    isRotating(row) ? signer.sign(row.id, messages) : `${row.channelId}:${row.continuationKey}`;
  const current = (row: SessionRow) =>
    row.mode === "task" || row.status === "completed" || row.status === "failed" ? null : of(row);

  function list(): Map<string, string> {
    if (listed !== undefined) return listed;
    listed = new Map();
    for (const row of index.rows()) if (isRotating(row) && current(row) !== null) listed.set(of(row), row.id);
    return listed;
  }

  return {
    of,
    current,
    matches: (row, token) => signer.equal(of(row), token),
    find(token) {
      const parts = /^([^:]+):(.+)$/.exec(token);
      const [, channelId, key] = parts ?? [];
      if (channelId === undefined || key === undefined) return "malformed";
      const keyed = index.byKey(channelId, key);
      if (keyed !== undefined) return keyed;
      const id = list().get(token);
      const row = id === undefined ? undefined : index.get(id);
      return row !== undefined && current(row) === token ? row : undefined;
    },
    rotated(row, messages) {
      if (listed === undefined || !isRotating(row)) return;
      listed.delete(of(row, messages - 1));
      listed.set(of(row, messages), row.id);
    },
  };
}
