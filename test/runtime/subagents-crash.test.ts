/** kill -9 of the emitted bundle at every event of a turn with a subagent. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { OfflineScript, ScriptAct } from "../../runtime/harness/offline/script.js";
import type { SessionEvent } from "../../runtime/session/event.js";
import { call, followUntil, isWaiting, startSession } from "./support/host.js";
import { buildProject, makeFolder, only, type Server, startServer } from "./support/worker-project.js";

let out = "";
beforeAll(async () => {
  out = await buildProject({
    "bot/subagents/scribe/agent.ts": `import { defineAgent } from "@cursor/bdk";
export default defineAgent({ description: "Writes things down.", instructions: "You write." });\n`,
    "bot/sandbox/workspace/facts.md": "Water is wet.\n",
    "bot/tools/note.ts": tool("note", ""),
    "bot/tools/pay.ts": tool("pay", "needsApproval: true,"),
  });
});

/** A write that says in a file of its own that it ran. */
function tool(name: string, fields: string): string {
  return `import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { defineTool } from "@cursor/bdk/tools";
export default defineTool({
  description: "Does something once.", ${fields}
  inputSchema: { type: "object", properties: { text: { type: "string" } } },
  execute: async ({ text }: { text?: string }) => {
    appendFileSync(join(process.env.NOTES ?? "", "notes.txt"), "${name} " + text + "\\n");
    await new Promise((done) => setTimeout(done, 20));
    return "done";
  },
});\n`;
}

const rule = (when: string, ...steps: ScriptAct[][]) => ({ when, steps });
const script: OfflineScript = {
  rules: [
    rule(
      "delegate",
      [
        { delay: 15 },
        { call: "task", input: { subagent: "scribe", prompt: "write it down" } },
        { call: "note", input: { text: "root" } },
      ],
      [{ delay: 15 }, { text: "end: {{results}}" }],
    ),
    rule(
      "write it down",
      [
        { delay: 15 },
        { reasoning: "how?" },
        { call: "read", input: { path: "facts.md" } },
        { call: "note", input: { text: "child" } },
        { call: "pay", input: { text: "child" } },
      ],
      [{ delay: 15 }, { text: "written" }],
    ),
  ],
};

/** Follows a session, approves whatever is asked, and stops at the first event that fits. */
async function attend(
  url: string,
  sessionId: string,
  isLast: (event: SessionEvent) => boolean,
): Promise<SessionEvent[]> {
  const decisions: Promise<unknown>[] = [];
  const events = await followUntil(url, sessionId, (event) => {
    if (event.type === "action.approval_requested") {
      const { callId } = event.data;
      // Decided already when this is a replay: that answers 409.
      decisions.push(call(`${url}/v1/session/${sessionId}/approvals/${callId}`, { body: { decision: "approve" } }));
    }
    return isLast(event);
  });
  await Promise.allSettled(decisions);
  return events;
}

async function start(home: string | undefined, notes: string): Promise<Server> {
  return startServer(out, { script, env: { NOTES: notes }, ...(home === undefined ? {} : { home }) });
}

test("no write runs twice, the same call stays approvable, the turn reaches its end", {
  timeout: 300_000,
}, async () => {
  const plain = await start(undefined, makeFolder());
  const { sessionId: whole } = await startSession(plain.url, { message: "delegate" });
  const boundaries = (await attend(plain.url, whole, isWaiting)).length - 1;
  await plain.kill();
  expect(boundaries).toBeGreaterThan(25);
  for (let boundary = 1; boundary <= boundaries; boundary += 1) {
    const notes = makeFolder();
    const first = await start(undefined, notes);
    const { sessionId } = await startSession(first.url, { message: "delegate" });
    await attend(first.url, sessionId, ({ index }) => index >= boundary);
    await first.kill();
    const second = await start(first.home, notes);
    const events = await attend(second.url, sessionId, isWaiting);
    const at = `killed at event ${boundary}`;
    expect(
      events.map(({ index }) => index),
      at,
    ).toEqual(events.map((_, index) => index));
    expect(only(events, "turn.completed"), at).toHaveLength(1);
    expect(only(events, "subagent.called"), at).toHaveLength(1);
    expect(
      only(events, "subagent.completed").map(({ data }) => data.isError),
      at,
    ).toEqual([false]);
    expect(only(events, "action.approval_requested").length, at).toBe(1);
    const asked = only(events, "actions.requested").flatMap(({ data }) => data.calls.map(({ callId }) => callId));
    expect(
      only(events, "action.result")
        .map(({ data }) => data.callId)
        .sort(),
      at,
    ).toEqual(asked.sort());
    const noted = readFileSync(join(notes, "notes.txt"), "utf8").trim().split("\n");
    expect(new Set(noted).size, at).toBe(noted.length);
    await second.kill();
  }
});
