/** `check` reads a conversation from its last turn on: what came before is not looked at, and nothing of that turn missed. */
import { expect, it } from "vitest";
import { makeBundle } from "./support/bundle.js";
import { call, readEvents, startHost } from "./support/host.js";
import { rpc } from "./support/mcp-rpc.js";
import { createTester } from "./support/tester.js";

async function start() {
  const { base } = await startHost(makeBundle([createTester().parts]));
  const use = async (name: string, args: Record<string, unknown>) => {
    const { body } = await rpc(`${base}/v1/mcp`, "tools/call", { name, arguments: args });
    return body.result?.structuredContent as Record<string, unknown> & { readonly sessionId: string };
  };
  return { base, use };
}

it("sees what waits for a human also after a message that joined the turn", async () => {
  const { base, use } = await start();
  await use("ask", { message: "hello" });
  const { sessionId, approvals } = await use("ask", { message: '/gated {"text":"x"}' });
  const { sessions } = (await call(`${base}/v1/sessions`)).body as unknown as {
    readonly sessions: readonly { readonly id: string; readonly continuationToken: string }[];
  };
  const continuationToken = sessions.find(({ id }) => id === sessionId)?.continuationToken;
  const joined = await call(`${base}/v1/session/${sessionId}`, {
    body: { continuationToken, message: "and this", admission: "coalesce" },
  });
  expect(joined.status).toBe(200);
  expect(await use("check", { sessionId })).toEqual({ status: "awaiting_approval", sessionId, approvals });
  // A new message ends that: what waited is over, and is not told of any more.
  expect(await use("ask", { sessionId, message: "never mind" })).toMatchObject({ status: "finished" });
  expect(await use("check", { sessionId })).toMatchObject({
    status: "finished",
    result: expect.stringContaining("never mind"),
  });
});

it("tells of the last turn, whatever was said and called before and since", async () => {
  const { base, use } = await start();
  const { sessionId } = await use("ask", { message: "same words" });
  await use("ask", { sessionId, message: "/boom {}" });
  const last = await use("ask", { sessionId, message: "same words" });
  for (let at = 0; at < 20; at += 1) await use("call_tool", { sessionId, toolName: "add", input: { a: at } });
  expect(await use("check", { sessionId })).toEqual(last);
  expect(last).toMatchObject({ status: "finished", result: expect.stringContaining("same words") });
  expect((await readEvents(base, sessionId)).at(-1)?.type).toBe("action.result");
});
