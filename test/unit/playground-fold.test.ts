import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { WireEvent } from "../../playground/src/events.js";
import { emptyTranscript, fold, type Item } from "../../playground/src/fold.js";

function events(...list: readonly (readonly [type: string, data?: Record<string, unknown>])[]): WireEvent[] {
  return list.map(([type, data = {}], index) => ({
    type,
    index,
    sessionId: "ses_1",
    at: "2026-11-30T10:00:00.000Z",
    data,
  }));
}

const turn = events(
  ["session.started", { model: "offline", title: "A talk" }],
  ["message.received", { text: "hello" }],
  ["turn.started", { model: "offline" }],
  ["reasoning.appended", { delta: "let me " }],
  ["reasoning.appended", { delta: "see" }],
  ["reasoning.completed", { text: "let me see" }],
  ["actions.requested", { calls: [{ callId: "c1", toolName: "look", args: { at: "it" } }] }],
  ["action.result", { callId: "c1", toolName: "look", output: { ok: 1 }, isError: false, durationMs: 3 }],
  ["message.appended", { delta: "It ", messageId: "m1" }],
  ["message.appended", { delta: "works", messageId: "m1" }],
  ["message.completed", { text: "It works.", messageId: "m1", finishReason: "stop" }],
  ["turn.completed", { usage: { inputTokens: 5, outputTokens: 7 }, cost: { totalUsd: 0.25, model: "m" } }],
  ["session.waiting"],
);
const foldAll = (list: readonly WireEvent[]) => list.reduce(fold, emptyTranscript);
const kinds = (items: readonly Item[]) => items.map((each) => each.kind);

describe("the playground's transcript", () => {
  it("shows a turn in order", () => {
    const transcript = foldAll(turn);
    expect(kinds(transcript.items)).toEqual(["user", "reasoning", "call", "reply"]);
    expect(transcript.items[2]).toMatchObject({ toolName: "look", state: "ok", args: { at: "it" }, output: { ok: 1 } });
    expect(transcript.items[3]).toMatchObject({ text: "It works.", isOpen: false });
    expect(transcript).toMatchObject({
      status: "waiting",
      title: "A talk",
      model: "offline",
      tokens: { input: 5, output: 7 },
      costUsd: 0.25,
      next: turn.length,
    });
  });

  it("streams: each prefix shows what has arrived", () => {
    expect(foldAll(turn.slice(0, 5)).items.at(-1)).toMatchObject({
      kind: "reasoning",
      text: "let me see",
      isOpen: true,
    });
    expect(foldAll(turn.slice(0, 7)).items.at(-1)).toMatchObject({ kind: "call", state: "running" });
    expect(foldAll(turn.slice(0, 10)).items.at(-1)).toMatchObject({ kind: "reply", text: "It works", isOpen: true });
    expect(foldAll(turn.slice(0, 3)).status).toBe("running");
  });

  it("gives the same whatever was delivered twice", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(turn.length - 1), { maxLength: 6 }), (reconnects) => {
        const delivered = reconnects.flatMap((from) => turn.slice(0, from + 1)).concat(turn);
        // A reconnect delivers from an index on; what is older is dropped by the fold.
        expect(foldAll(delivered)).toEqual(foldAll(turn));
      }),
    );
  });

  it("parks a call until it is decided", () => {
    const parked = events(
      ["message.received", { text: "do it" }],
      ["actions.requested", { calls: [{ callId: "c1", toolName: "pay" }] }],
      ["action.approval_requested", { callId: "c1", toolName: "pay", args: { sum: 3 } }],
      ["session.waiting"],
      ["action.approval_resolved", { callId: "c1", decision: "deny" }],
    );
    expect(foldAll(parked.slice(0, 4)).items[1]).toMatchObject({
      approval: "asked",
      state: "running",
      args: { sum: 3 },
    });
    expect(foldAll(parked).items[1]).toMatchObject({ approval: "deny" });
  });

  it("tells failure from being stopped, and leaves nothing running", () => {
    const failed = (status: string) =>
      foldAll(
        events(
          ["message.received", { text: "x" }],
          ["message.appended", { delta: "half", messageId: "m" }],
          ["actions.requested", { calls: [{ callId: "c", toolName: "t" }] }],
          ["turn.failed", { message: "no", status }],
        ),
      );
    expect(failed("error").items.at(-1)).toMatchObject({ kind: "failure", isCancelled: false, text: "no" });
    expect(failed("cancelled").items.at(-1)).toMatchObject({ isCancelled: true });
    expect(failed("error").items[1]).toMatchObject({ isOpen: false });
    expect(failed("error").items[2]).toMatchObject({ state: "failed" });
  });

  it("sets a subagent's work apart", () => {
    const nested = foldAll(
      events(
        ["actions.requested", { parentCallId: "p", calls: [{ callId: "c", toolName: "t" }] }],
        ["message.completed", { text: "sub", messageId: "m", finishReason: "stop", parentCallId: "p" }],
      ),
    );
    expect(nested.items).toMatchObject([{ parentCallId: "p" }, { parentCallId: "p" }]);
  });

  it("survives anything with an envelope", () => {
    const types = [
      ...new Set(turn.map((each) => each.type)),
      "turn.failed",
      "action.approval_requested",
      "of.tomorrow",
    ];
    const event = fc.record({ type: fc.constantFrom(...types), data: fc.dictionary(fc.string(), fc.jsonValue()) });
    fc.assert(
      fc.property(fc.array(event), (list) => {
        foldAll(list.map((each, index) => ({ ...each, index, sessionId: "s", at: "2026-11-30T10:00:00.000Z" })));
      }),
    );
  });
});
