import type { SessionEvent } from "./event.js";
import type { Claim, Log, RecordMark, SessionIndex } from "./ports.js";

/** How long a key answers, in milliseconds: 24 hours. Decision 25. */
const keptMs = 24 * 60 * 60 * 1000;

/** What a request was answered with. */
export type Answer = Pick<Claim, "sessionId" | "messages" | "record">;

/** Gives a retried request the first answer, also while the first is still on its way and after a restart. */
export interface Idempotency {
  /** `act` writes the claim itself, at the moment from which a retry must not act again. */
  once(key: string | undefined, act: (claim: (answer: Answer) => void) => Promise<Answer>): Promise<Answer>;
}

/** @param isKept whether what a claim says happened is really in the log. */
export function createIdempotency(
  index: SessionIndex,
  now: () => number,
  isKept: (claim: Claim) => Promise<boolean>,
  log: Log,
): Idempotency {
  const underway = new Map<string, Promise<Answer>>();
  const notKept = (error: unknown) => log("warn", `an idempotency key may be lost with the machine: ${String(error)}`);

  async function answerOnce(key: string, act: (claim: (answer: Answer) => void) => Promise<Answer>): Promise<Answer> {
    const earlier = index.claim(key);
    if (earlier !== undefined && now() - earlier.at < keptMs && (await isKept(earlier))) return earlier;
    let kept: Promise<void> | undefined;
    const answer = await act((claimed) => {
      // While the record goes to disk, too: whoever is answered has a claim that outlives the machine.
      kept = index.putClaim({ ...claimed, key, at: now() }).catch(notKept);
    });
    await kept;
    return answer;
  }

  return {
    once(key, act) {
      if (key === undefined) return act(() => undefined);
      const first = underway.get(key);
      if (first !== undefined) return first;
      const answer = answerOnce(key, act).finally(() => underway.delete(key));
      underway.set(key, answer);
      return answer;
    },
  };
}

/** What the record of a message is known by. */
export function markOf({ index, turnId, at }: SessionEvent): RecordMark {
  return { index, at, ...(turnId !== undefined && { turnId }) };
}

/** Whether the line of a log at a mark's index is the record that was marked. */
export function isMarked(line: string | undefined, mark: RecordMark): boolean {
  if (line === undefined) return false;
  const event = JSON.parse(line) as SessionEvent;
  const found = markOf(event);
  return (
    event.type === "message.received" &&
    found.index === mark.index &&
    found.turnId === mark.turnId &&
    found.at === mark.at
  );
}

/** Claims a message right before its record. One that can't be claimed stands all the same: only a repetition of it is not known as one. */
export function claimRecord(
  claim: (answer: Answer) => void,
  sessionId: string,
  log: Log,
): (messages: number, record: RecordMark) => void {
  return (messages, record) => {
    try {
      claim({ sessionId, messages, record });
    } catch (error) {
      log("warn", `an idempotency key was not kept: ${String(error)}`);
    }
  };
}
