import { useEffect, useState } from "preact/hooks";
import type { WireEvent } from "./events.js";
import { emptyTranscript, fold, type Transcript } from "./fold.js";
import { follow } from "./follow.js";

interface Followed {
  readonly transcript: Transcript;
  readonly events: readonly WireEvent[];
  readonly problem: string | undefined;
}

const nothing: Followed = { transcript: emptyTranscript, events: [], problem: undefined };

/** Follows a session for as long as it is shown; another id, or another token, begins anew. */
export function useSession(sessionId: string | undefined, token: string): Followed {
  const [state, setState] = useState(nothing);
  // A changed token is a reason to connect again.
  useEffect(() => {
    setState(nothing);
    if (sessionId === undefined) return;
    const stop = new AbortController();
    const onEvents = (fresh: readonly WireEvent[]) =>
      setState((before) => ({
        ...before,
        transcript: fresh.reduce(fold, before.transcript),
        events: [...before.events, ...fresh.filter((each) => each.index >= before.transcript.next)],
      }));
    const onProblem = (problem: string | undefined) =>
      setState((before) => (before.problem === problem ? before : { ...before, problem }));
    void follow(sessionId, stop.signal, onEvents, onProblem);
    return () => stop.abort();
  }, [sessionId, token]);
  return state;
}
