import { expect, test } from "vitest";
import { createOfflineHarness, type OfflineOptions } from "../../runtime/harness/offline/offline.js";
import type { ModelMessage, StepPart } from "../../runtime/session/model.js";

async function step(
  messages: readonly ModelMessage[],
  options: OfflineOptions = {},
  more: { readonly script?: string; readonly step?: number; readonly signal?: AbortSignal } = {},
): Promise<StepPart[]> {
  const parts: StepPart[] = [];
  const request = {
    sessionId: "ses_1",
    turnId: "turn_1",
    step: more.step ?? 1,
    model: { id: "offline", params: more.script === undefined ? [] : [{ id: "script", value: more.script }] },
    system: "Be brief.",
    messages,
    tools: [{ name: "add", description: "Adds.", inputSchema: {} }],
    signal: more.signal ?? new AbortController().signal,
  };
  for await (const part of createOfflineHarness(options).step(request)) parts.push(part);
  return parts;
}

const said = (text: string): ModelMessage[] => [{ role: "user", text }];
const textOf = (parts: readonly StepPart[]) =>
  parts.flatMap((part) => (part.type === "text" ? [part.delta] : [])).join("");

test("the same request gives the same answer and the same token counts", async () => {
  expect(await step(said("hello"))).toEqual(await step(said("hello")));
  expect(textOf(await step(said("hello")))).toMatch(/offline model.*no network, no AI[\s\S]*You said: hello[\s\S]*add/);
});

test("what an answer costs doesn't grow with the conversation", async () => {
  const long: ModelMessage[] = Array.from({ length: 1_000 }, (_, at) =>
    at % 2 === 0 ? { role: "user", text: `question ${at}` } : { role: "assistant", text: `answer ${at}` },
  );
  const [short, far] = [await step(said("hello")), await step([...long, ...said("hello")])];
  expect(far).toEqual(short);
});

test("a script comes from the options, from a reader or from the model's own parameter, which wins", async () => {
  const scripted = (text: string) => JSON.stringify({ rules: [{ when: "hello", steps: [[{ text }]] }] });
  const readScript = () => scripted("read");
  expect(textOf(await step(said("hello"), { readScript }))).toBe("read");
  expect(textOf(await step(said("hello"), { readScript }, { script: scripted("own") }))).toBe("own");
  expect(textOf(await step(said("bye"), { readScript }))).toContain("You said: bye");
  expect(textOf(await step(said("hello"), { readScript }, { step: 2 }))).toContain("You said: hello");
});

test("a script that can't be read is said to be wrong, and where", async () => {
  for (const [script, problem] of [
    ["{", /not JSON/],
    ['{"rules":[{"steps":[[{"txt":"x"}]]}]}', /steps/],
    ['{"rules":{}}', /rules/],
  ] as const) {
    await expect(step(said("x"), {}, { script })).rejects.toMatchObject({
      code: "model_unavailable",
      message: expect.stringMatching(problem),
    });
  }
});

test("a delay ends at once when the turn is stopped", async () => {
  const stop = new AbortController();
  const script = JSON.stringify({ rules: [{ steps: [[{ delay: 60_000 }]] }] });
  const running = step(said("x"), {}, { script, signal: stop.signal });
  stop.abort(new Error("stopped"));
  await expect(running).rejects.toThrow("stopped");
});
