import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Command,
  completeChild,
  type Draft,
  decide,
  isRejected,
  stamp,
  unrun,
} from "../../runtime/session/decide.js";
import type { SessionEvent } from "../../runtime/session/event.js";
import { plan } from "../../runtime/session/plan.js";
import { reduce } from "../../runtime/session/reduce.js";
import { allOpenCalls, initialState, type SessionState } from "../../runtime/session/state.js";
import { createConversation } from "../../runtime/session/views/conversation.js";
import { createCostView } from "../../runtime/session/views/cost.js";
import { toRow } from "../../runtime/session/views/summary.js";
import { planWork, type Work } from "../../runtime/session/work.js";

/**
 * A session driven by random choices through the real `decide` and `plan`, with no effects: what a runner could ever
 * record. Returns the log and the state after each event, as they were while it ran.
 */
function play(mode: "chat" | "task", choices: readonly number[]) {
  const events: SessionEvent[] = [];
  const states: SessionState[] = [];
  const conversation = createConversation();
  const heard: string[] = [];
  let state = initialState;
  let ids = 0;
  const id = (prefix: string) => `${prefix}${ids++}`;

  function record(drafts: readonly Draft[]): void {
    for (const event of stamp(drafts, new Date(1_000 * events.length).toISOString(), "ses_1", events.length)) {
      state = reduce(state, event);
      conversation.apply(event);
      heard.push(JSON.stringify(conversation.messages));
      events.push(event);
      states.push(state);
    }
  }
  function command(asked: Command): void {
    const decision = decide(state, asked);
    if (!isRejected(decision)) record(decision);
  }

  command({
    do: "create",
    started: { mode, purpose: "live", channelId: "http", model: "m", agent: "a", manifestHash: "h" },
    text: "start",
    turnId: id("turn_"),
  });
  for (const choice of choices) {
    const outside = choice % 7;
    if (outside === 0) command({ do: "receive", text: id("say "), admission: "coalesce", turnId: id("turn_") });
    if (outside === 1) command({ do: "receive", text: id("say "), admission: "preempt", turnId: id("turn_") });
    if (outside === 2) command({ do: "cancel", message: "stopped", all: choice % 2 === 0 });
    if (outside === 3) {
      const parked = state.turn && allOpenCalls(state.turn).find((call) => call.phase === "parked");
      const decision = choice % 2 === 0 ? "approve" : "deny";
      if (parked)
        command({ do: "resolve", callId: parked.callId, decision, by: "me", confirm: false, codeHash: () => "h" });
    }
    const next = plan(state, 5);
    const turnId = state.turn?.id ?? "";
    if (next.do === "settle" || next.do === "complete" || next.do === "fail" || next.do === "cancel") command(next);
    if (next.do === "begin") command({ do: "begin", turnId: next.turnId ?? id("turn_"), model: "m" });
    if (next.do === "step") {
      record([{ type: "step.started", turnId, data: { step: next.step, attempt: next.attempt } }]);
      if (choice % 5 === 4) continue; // a crash: the step runs again
      record(yieldOf(choice, turnId, next.step, id));
    }
    if (next.do === "close-step") {
      record([{ type: "step.completed", turnId, data: { step: next.step, durationMs: 0, finishReason: "stop" } }]);
    }
    if (next.do === "calls" && state.turn !== undefined) {
      const work = planWork(state.turn, 5);
      const chosen = work[choice % work.length];
      if (chosen !== undefined) record(carryOut(chosen, choice, turnId, id));
    }
  }
  return { events, states, heard, conversation };
}

/** One thing that is done about open calls: results, questions, subagents and their own steps and calls. */
function carryOut(work: Work, choice: number, turnId: string, id: (prefix: string) => string): readonly Draft[] {
  switch (work.do) {
    case "run": {
      const { callId, toolName, phase } = work.call;
      const parent = work.child === undefined ? {} : { parentCallId: work.child.callId };
      if (phase === "requested" && choice % 3 === 0) {
        return [{ type: "action.approval_requested", turnId, data: { callId, toolName, args: {}, ...parent } }];
      }
      return work.child === undefined && phase === "requested" && choice % 3 === 1
        ? [{ type: "subagent.called", turnId, data: { callId, subagent: "helper", prompt: "help" } }]
        : [{ type: "action.result", turnId, data: { ...unrun(callId, toolName, "done"), ...parent } }];
    }
    case "step": {
      const parent = { parentCallId: work.child.callId };
      const { step, attempt } = work;
      const started: Draft = { type: "step.started", turnId, data: { step, attempt, ...parent } };
      if (choice % 5 === 4) return [started]; // a crash: the step runs again
      const drafts = yieldOf(choice, turnId, step, id).map(
        (draft): Draft => ({ ...draft, data: { ...draft.data, ...parent } }) as Draft,
      );
      return [started, ...drafts];
    }
    case "close-step": {
      const { step, finishReason } = work;
      return [
        {
          type: "step.completed",
          turnId,
          data: { step, durationMs: 0, finishReason, parentCallId: work.child.callId },
        },
      ];
    }
    case "complete":
      return [completeChild(turnId, work.child, work.answer)];
    case "answer": {
      const { callId, toolName } = work.call;
      return [{ type: "action.result", turnId, data: { callId, toolName, ...work.answer, durationMs: 1 } }];
    }
  }
}

/** What a model step may give: text, calls, both, and sometimes only half of it written before a crash. */
function yieldOf(choice: number, turnId: string, step: number, id: (prefix: string) => string): readonly Draft[] {
  const drafts: Draft[] = [];
  const hasCalls = choice % 2 === 0;
  const finishReason = hasCalls ? "tool-calls" : "stop";
  if (choice % 4 === 1) drafts.push({ type: "reasoning.completed", turnId, data: { text: "hm" } });
  if (!hasCalls || choice % 4 === 0) {
    drafts.push({ type: "message.appended", turnId, data: { delta: "t", messageId: "m" } });
    drafts.push({ type: "message.completed", turnId, data: { text: `text ${step}`, messageId: "m", finishReason } });
  }
  if (hasCalls) {
    const calls = [1, 2].map(() => ({ callId: id("call_"), toolName: "tool", args: {} }));
    drafts.push({ type: "actions.requested", turnId, data: { calls } });
  }
  const usage = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0 };
  drafts.push({ type: "step.completed", turnId, data: { step, durationMs: 1, finishReason, usage, costUsd: 0.5 } });
  return choice % 11 === 10 ? drafts.slice(0, -1) : drafts;
}

const histories = fc.record({
  mode: fc.constantFrom("chat" as const, "task" as const),
  choices: fc.array(fc.nat(10_000), { maxLength: 60 }),
});

test("replaying a log gives, at every event, the state and the conversation that were live", () => {
  fc.assert(
    fc.property(histories, ({ mode, choices }) => {
      const { events, states, heard } = play(mode, choices);
      const stored = events.map((event) => JSON.parse(JSON.stringify(event)) as SessionEvent);
      let state = initialState;
      const conversation = createConversation();
      stored.forEach((event, at) => {
        state = reduce(state, event);
        conversation.apply(event);
        expect(state).toEqual(states[at]);
        expect(JSON.stringify(conversation.messages)).toBe(heard[at]);
      });
    }),
    { numRuns: 200 },
  );
});

test("whatever happens, turns begin and end once, in order, and every call is answered before its turn ends", () => {
  fc.assert(
    fc.property(histories, ({ mode, choices }) => {
      const { events } = play(mode, choices);
      let open: string | undefined;
      const waiting = new Set<string>();
      const begun = new Set<string>();
      for (const event of events) {
        if (event.type === "turn.started") {
          expect(open).toBeUndefined();
          expect(begun.has(event.turnId ?? "")).toBe(false);
          open = event.turnId;
          begun.add(event.turnId ?? "");
        }
        if (event.type === "actions.requested") for (const { callId } of event.data.calls) waiting.add(callId);
        if (event.type === "action.result") expect(waiting.delete(event.data.callId)).toBe(true);
        if ((event.type === "turn.completed" || event.type === "turn.failed") && event.turnId === open) {
          expect([...waiting]).toEqual([]);
          open = undefined;
        }
        if (event.type === "session.waiting") expect(open).toBeUndefined();
      }
    }),
    { numRuns: 300 },
  );
});

test("the plan leads every session to rest, however it got where it is", () => {
  fc.assert(
    fc.property(histories, ({ mode, choices }) => {
      const before = play(mode, choices).states.at(-1);
      // Odd numbers that hit nothing from outside: the plan alone, with text-only steps and answered calls.
      const { states, events } = play(mode, [...choices, ...Array.from({ length: 120 }, () => 8_005 * 7 + 5)]);
      const last = states.at(-1) ?? initialState;
      const parked = last.turn === undefined ? [] : allOpenCalls(last.turn).filter(({ phase }) => phase === "parked");
      expect(plan(last, 5).do).toBe(parked.length === 0 ? "idle" : "wait");
      expect(events.length).toBeGreaterThanOrEqual(before?.nextIndex ?? 0);
    }),
    { numRuns: 200 },
  );
});

test("in the conversation every call is followed by its result, and nothing stands between", () => {
  fc.assert(
    fc.property(histories, ({ mode, choices }) => {
      const { conversation } = play(mode, choices);
      const expected: string[] = [];
      for (const message of conversation.messages) {
        if (message.role === "tool") expect(message.callId).toBe(expected.shift());
        else expect(expected).toEqual([]);
        if (message.role === "assistant") expected.push(...(message.calls ?? []).map(({ callId }) => callId));
      }
      const isWaiting = expected.length === 0 || conversation.messages.at(-1)?.role === "assistant";
      expect(isWaiting).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test("tokens and cost of turns add up to the session's", () => {
  fc.assert(
    fc.property(histories, ({ mode, choices }) => {
      const { events } = play(mode, choices);
      const view = createCostView();
      for (const event of events) view.apply(event);
      const { turns, total } = view.result();
      expect(total.usage.outputTokens).toBe(turns.reduce((sum, { usage }) => sum + usage.outputTokens, 0));
      expect(total.cost?.totalUsd ?? 0).toBeCloseTo(turns.reduce((sum, { cost }) => sum + (cost?.totalUsd ?? 0), 0));
      for (const event of events) {
        if (event.type !== "turn.completed") continue;
        const turn = turns.find(({ turnId }) => turnId === event.turnId);
        expect(turn?.usage).toMatchObject(event.data.usage ?? {});
        expect(turn?.cost).toEqual(event.data.cost);
      }
    }),
    { numRuns: 100 },
  );
});

test("a row is open exactly when the plan has something to do that no human has to decide", () => {
  const record = { id: "ses_1", owner: "a:b", auth: { kind: "a", id: "b" }, channelId: "http", createdAt: "" } as const;
  fc.assert(
    fc.property(histories, ({ mode, choices }) => {
      for (const state of play(mode, choices).states) {
        const next = plan(state, 5);
        expect(toRow({ ...record, mode, purpose: "live" }, state).open).toBe(
          (next.do !== "idle" && next.do !== "wait") || state.pending !== undefined,
        );
      }
    }),
    { numRuns: 200 },
  );
});

test("a turn that a new message interrupts makes way also when a crash came in between", () => {
  const at = "2026-01-01T00:00:00.000Z";
  const drafts: Draft[] = [
    { type: "message.received", turnId: "turn_1", data: { text: "one" } },
    { type: "turn.started", turnId: "turn_1", data: { model: "m" } },
    { type: "step.started", turnId: "turn_1", data: { step: 1 } },
    { type: "message.received", turnId: "turn_2", data: { text: "two" } },
  ];
  const events = stamp(drafts, at, "ses_1", 0);
  const state = events.reduce(reduce, initialState);
  expect(plan(state, 5)).toEqual({ do: "cancel", message: "interrupted by a new message", all: false });
});
