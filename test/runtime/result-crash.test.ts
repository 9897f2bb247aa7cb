/**
 * `kill -9` at every event of a turn with an approval, an artifact and a result that is repaired: the turn ends, the
 * gated write runs at most once, and no text is committed twice.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { SessionEvent } from "../../runtime/session/event.js";
import { emitProject } from "./support/emitted.js";
import { call, followUntil, isWaiting, readEvents, startSession } from "./support/host.js";

const pay = `import { appendFileSync } from "node:fs";
import { defineTool } from "@cursor/bdk/tools";

export default defineTool({
  description: "Pays.",
  needsApproval: true,
  async execute(input, ctx) {
    appendFileSync(process.env.LEDGER ?? "", "paid " + ctx.session.id + "\\n");
    await ctx.artifacts.tag({ key: ctx.session.id, title: "Receipt", contents: "paid" });
    return "paid";
  },
});
`;

const result = `import { appendFileSync } from "node:fs";
import { defineResult } from "@cursor/bdk/result";

export default defineResult({
  commit(text, ctx) {
    appendFileSync(process.env.LEDGER ?? "", "committed " + ctx.session.id + " " + text.length + "\\n");
    if (!text.includes("VERDICT")) ctx.reject("End with VERDICT");
    return { verdict: true };
  },
});
`;

test("killed at every event, the turn ends once and nothing runs twice", async () => {
  const emitted = await emitProject({ "bot/tools/pay.ts": pay, "bot/result.ts": result });
  const env = { LEDGER: join(emitted.work, "ledger") };
  const lines = (start: string) =>
    existsSync(env.LEDGER)
      ? readFileSync(env.LEDGER, "utf8")
          .split("\n")
          .filter((line) => line.startsWith(start))
      : [];
  let base = await emitted.start(env);

  const approve = async (sessionId: string) => {
    const { body } = await call(`${base}/v1/session/${sessionId}/approvals`);
    for (const { callId } of body.approvals as readonly { callId: string }[]) {
      await call(`${base}/v1/session/${sessionId}/approvals/${callId}`, { body: { decision: "approve" } });
    }
  };
  const isParkedOr = (fits: (event: SessionEvent) => boolean) => (event: SessionEvent) =>
    event.type === "action.approval_requested" || fits(event);

  let isPast = false;
  for (let at = 0; !isPast; at += 1) {
    const { sessionId } = await startSession(base, { message: '/pay {"to":"x"}' });
    const reached = (event: SessionEvent) => event.index >= at;
    const seen = await followUntil(
      base,
      sessionId,
      isParkedOr((event) => reached(event) || isWaiting(event)),
    );
    const last = seen.at(-1);
    if (last?.type === "action.approval_requested" && last.index < at) {
      await approve(sessionId);
      const rest = await followUntil(base, sessionId, (event) => reached(event) || isWaiting(event));
      isPast = rest.at(-1)?.index !== at;
    }
    await emitted.kill();
    base = await emitted.start(env);
    const again = await followUntil(base, sessionId, isParkedOr(isWaiting));
    if (again.at(-1)?.type === "action.approval_requested") await approve(sessionId);
    await followUntil(base, sessionId, isWaiting);

    const events = await readEvents(base, sessionId);
    const ends = events.filter(({ type }) => type === "turn.completed" || type === "turn.failed");
    expect(ends, `killed at ${at}`).toHaveLength(1);
    const [end] = ends;
    if (end?.type === "turn.completed") expect(end.data.result).toEqual({ verdict: true });
    if (end?.type === "turn.failed") expect(end.data.code, `killed at ${at}`).toBe("result_unknown");
    expect(events.filter(({ type }) => type === "action.approval_requested")).toHaveLength(1);
    expect(lines(`paid ${sessionId}`).length, `killed at ${at}`).toBeLessThanOrEqual(1);
    const committed = lines(`committed ${sessionId}`);
    expect(new Set(committed).size, `killed at ${at}`).toBe(committed.length);
    expect(events.map(({ index }) => index)).toEqual(events.map((_, index) => index));
  }
  const { body } = await call(`${base}/v1/artifacts`);
  expect((body.artifacts as readonly unknown[]).length).toBeGreaterThan(0);
}, 120_000);
