import type { JsonValue } from "./event.js";
import type { CommitLedger, Committed, Generation, SessionRecord } from "./ports.js";

/** What becomes of a turn whose model has finished: it ends, or the model gets one more step. */
export type Verdict =
  | { readonly do: "complete"; readonly result?: JsonValue }
  | { readonly do: "repair"; readonly message: string }
  | { readonly do: "fail"; readonly message: string; readonly code: string }
  /** Cut off by a stop or a new message: the plan says what follows. */
  | { readonly do: "interrupted" };

interface CommitRequest {
  readonly generation: Generation;
  readonly record: SessionRecord;
  readonly turnId: string;
  readonly step: number;
  /** Final text of the turn. */
  readonly reply: string | undefined;
  /** The model was asked to repair its text already. */
  readonly isRepaired: boolean;
  readonly signal: AbortSignal;
  readonly ledger: CommitLedger;
}

/**
 * Hands a turn's final text to the project's `commit`, at most once for each text: that it begins is on disk before it
 * does, and what came of it is on disk before the turn ends. After a crash in between, the turn fails instead of
 * running `commit` again.
 */
export async function commitReply(request: CommitRequest): Promise<Verdict> {
  const { generation, record, turnId, step, reply = "", signal, ledger } = request;
  const { commit } = generation;
  if (commit === undefined) return { do: "complete" };
  if (reply.trim() === "") {
    return { do: "fail", code: "result_missing", message: "the turn ended without a text to commit" };
  }
  const earlier = ledger.read(record.id);
  if (earlier !== undefined && earlier.turnId === turnId && earlier.step === step) {
    return judge(request, earlier.outcome ?? { is: "unknown", message: "the server restarted during commit" });
  }
  await ledger.write(record.id, { turnId, step });
  const outcome = await commit(reply, { record, turnId, signal });
  if (signal.aborted && outcome.is !== "accepted") return { do: "interrupted" };
  await ledger.write(record.id, { turnId, step, outcome });
  return judge(request, outcome);
}

function judge({ isRepaired }: CommitRequest, outcome: Committed): Verdict {
  switch (outcome.is) {
    case "accepted":
      return outcome.result === undefined ? { do: "complete" } : { do: "complete", result: outcome.result };
    case "rejected":
      return isRepaired
        ? { do: "fail", code: "result_rejected", message: `the repaired text was rejected too: ${outcome.message}` }
        : { do: "repair", message: outcome.message };
    case "failed":
      return { do: "fail", code: "result_failed", message: outcome.message };
    case "unknown":
      return {
        do: "fail",
        code: "result_unknown",
        message: `${outcome.message}; whether it took effect is unknown, and it was not run again`,
      };
  }
}
