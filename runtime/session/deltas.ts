import type { Draft } from "./decide.js";
import type { Clock } from "./ports.js";

/** How long text is gathered before it is recorded, in milliseconds. Decision 12. */
const gatherMs = 25;

type DeltaKind = "reasoning" | "text";

/** Turns a model's many small pieces into few `*.appended` events, each with only the new text. */
export interface Deltas {
  /** Records the first piece at once, then at most one event every 25 ms. */
  add(kind: DeltaKind, delta: string): void;
  /** Records what is gathered. */
  flush(): void;
}

/** @param parent marks the work of a subagent. */
export function createDeltas(
  clock: Clock,
  turnId: string,
  parent: { readonly parentCallId?: string },
  messageId: () => string,
  record: (draft: Draft) => void,
): Deltas {
  let kind: DeltaKind = "text";
  let gathered = "";
  let callOff: (() => void) | undefined;

  function emit(): void {
    if (gathered === "") return;
    const delta = gathered;
    gathered = "";
    record(
      kind === "text"
        ? { type: "message.appended", turnId, data: { delta, messageId: messageId(), ...parent } }
        : { type: "reasoning.appended", turnId, data: { delta, ...parent } },
    );
  }

  function onTimer(): void {
    callOff = undefined;
    if (gathered === "") return;
    emit();
    callOff = clock.after(gatherMs, onTimer);
  }

  return {
    add(nextKind, delta) {
      if (nextKind !== kind) emit();
      kind = nextKind;
      gathered += delta;
      if (callOff !== undefined) return;
      emit();
      callOff = clock.after(gatherMs, onTimer);
    },
    flush() {
      callOff?.();
      callOff = undefined;
      emit();
    },
  };
}
