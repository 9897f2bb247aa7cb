import { expect, test } from "vitest";
import { alice, eventsOf, only, openSessions, run, typesOf } from "./support/sessions.js";

test("a first message becomes a whole turn on the stream", async () => {
  const sessions = await openSessions();
  const { sessionId, continuationToken } = await run(sessions, "hello");
  expect(sessionId).toMatch(/^ses_[0-9A-HJKMNP-TV-Z]{26}$/);
  expect(continuationToken).toMatch(/^http:/);
  const events = await eventsOf(sessions, sessionId);
  expect(events.map((event) => event.type)).toEqual([
    "session.started",
    "message.received",
    "turn.started",
    "step.started",
    "message.appended",
    "message.completed",
    "step.completed",
    "turn.completed",
    "session.waiting",
  ]);
  expect(events.map((event) => event.index)).toEqual(events.map((_, position) => position));
  expect(only(events, "message.completed")[0]?.data).toMatchObject({ finishReason: "stop" });
  expect(await sessions.get(alice, sessionId)).toMatchObject({ status: "waiting", turns: 1, continuationToken });
});

test("the offline model calls the tools that the message spells out", async () => {
  const sessions = await openSessions({
    tools: {
      add: { effect: "read", execute: ({ a, b }: { a: number; b: number }) => ({ sum: a + b }) },
      fail: {
        execute: () => {
          throw new Error("no such thing");
        },
      },
    },
  });
  const { sessionId } = await run(sessions, '/add {"a":1,"b":2}\n/fail {}');
  const events = await eventsOf(sessions, sessionId);
  expect(only(events, "action.result").map(({ data }) => [data.toolName, data.output, data.isError])).toEqual([
    ["add", { sum: 3 }, false],
    ["fail", { message: "no such thing" }, true],
  ]);
  expect(only(events, "message.completed").at(-1)?.data.text).toContain('add returned {"sum":3}');
  expect(await typesOf(sessions, sessionId)).toContain("turn.completed");
});
