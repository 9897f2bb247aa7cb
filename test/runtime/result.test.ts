/** `bot/result.ts` on the emitted bundle over HTTP: commit, reject, throw, no text, recovery. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { SessionEvent } from "../../runtime/session/event.js";
import { type Emitted, emitProject } from "./support/emitted.js";
import { call, followUntil, isWaiting, readEvents, startSession } from "./support/host.js";

const result = `import { appendFileSync, existsSync } from "node:fs";
import { defineResult } from "@cursor/bdk/result";

export default defineResult({
  async commit(text, ctx) {
    appendFileSync(process.env.COMMITS ?? "", ctx.turnId + "\\n");
    if (text.includes("THROW")) throw new Error("no printer");
    if (text.includes("SWALLOW")) {
      try {
        ctx.reject("say VERDICT: swallowed");
      } catch {
        return "caught";
      }
    }
    if (text.includes("HANG")) {
      await new Promise((_resolve, stop) => ctx.signal.addEventListener("abort", () => stop(new Error("stopped"))));
    }
    if (text.includes("NOTHING")) return;
    if (text.includes("NEVER")) ctx.reject("NEVER good");
    const verdict = /VERDICT: (\\w+)/.exec(text)?.[1];
    if (verdict === undefined) return ctx.reject("End with VERDICT: fixed");
    return { verdict, session: ctx.session.id, agent: ctx.agent.name };
  },
});
`;

const script = {
  rules: [
    { when: "silent", steps: [[{ finish: "stop" }]] },
    { when: "slowly", steps: [[{ text: "HANG" }]] },
  ],
};

let emitted: Emitted;
let base: string;
let env: Record<string, string>;

beforeAll(async () => {
  emitted = await emitProject({ "bot/result.ts": result });
  env = { COMMITS: join(emitted.work, "commits"), BDK_OFFLINE_SCRIPT: join(emitted.work, "script.json") };
  writeFileSync(env.BDK_OFFLINE_SCRIPT ?? "", JSON.stringify(script));
  base = await emitted.start(env);
});

const commits = (turnId: string | undefined) => {
  const file = env.COMMITS ?? "";
  return existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => line === turnId).length
    : 0;
};

async function turnOf(message: string, extra: Record<string, unknown> = {}) {
  const { sessionId } = await startSession(base, { message, ...extra });
  const events = await followUntil(base, sessionId, isWaiting);
  const end = events.find((event): event is SessionEvent<"turn.completed" | "turn.failed"> =>
    /^turn\.(completed|failed)$/.test(event.type),
  );
  return { sessionId, events, end, data: end?.data };
}

describe("commit", () => {
  test("what it returns is the turn's result", async () => {
    const { end, data, sessionId } = await turnOf("VERDICT: ship");
    expect(data).toMatchObject({ result: { verdict: "ship", session: sessionId, agent: "emitted" } });
    expect(commits(end?.turnId)).toBe(1);
  });

  test("nothing returned leaves the text", async () => {
    expect((await turnOf("NOTHING")).data).toMatchObject({ result: expect.stringContaining("NOTHING") });
  });

  test("a rejection is told to the model, whose repair is committed in the same turn", async () => {
    const { events, end, data } = await turnOf("hello");
    expect(data).toMatchObject({ result: { verdict: "fixed" } });
    expect(events.filter(({ type }) => type === "turn.started")).toHaveLength(1);
    expect(events.filter(({ type }) => type === "message.received")).toHaveLength(1);
    const steps = events.flatMap((event) => (event.type === "step.started" ? [event.data] : []));
    expect(steps).toEqual([{ step: 1 }, { step: 2, repair: "End with VERDICT: fixed" }]);
    expect(commits(end?.turnId)).toBe(2);
  });

  test("a second rejection fails the turn, and the session goes on", async () => {
    const { sessionId, end, data } = await turnOf("NEVER");
    expect(data).toMatchObject({ code: "result_rejected", status: "error" });
    expect(commits(end?.turnId)).toBe(2);
    expect((await readEvents(base, sessionId)).at(-1)?.type).toBe("session.waiting");
  });

  test("a rejection counts even when the project catches it", async () => {
    expect((await turnOf("SWALLOW")).data).toMatchObject({ result: { verdict: "swallowed" } });
  });

  test("a thrown error and a missing text fail the turn", async () => {
    expect((await turnOf("THROW")).data).toMatchObject({ message: "no printer", code: "result_failed" });
    const { end, data } = await turnOf("silent");
    expect(data).toMatchObject({ code: "result_missing" });
    expect(commits(end?.turnId)).toBe(0);
  });

  test("a dry run commits nothing", async () => {
    const { end, data } = await turnOf("VERDICT: dry", { dryRun: true });
    expect(data).toMatchObject({ result: expect.stringContaining("VERDICT: dry") });
    expect(commits(end?.turnId)).toBe(0);
  });
});

/** A turn whose commit is under way, and never ends by itself. */
async function startCommit() {
  const { sessionId } = await startSession(base, { message: "slowly" });
  const ledger = join(emitted.stateRoot, "sessions", sessionId, "commit.json");
  await expect.poll(() => existsSync(ledger)).toBe(true);
  const { turnId } = JSON.parse(readFileSync(ledger, "utf8")) as { turnId: string };
  await expect.poll(() => commits(turnId)).toBe(1);
  return { sessionId, turnId };
}

describe("across kill -9", () => {
  test("a commit that was under way is never run again; one that had ended counts", async () => {
    const { sessionId, turnId } = await startCommit();
    await emitted.kill();
    base = await emitted.start(env);
    const events = await followUntil(base, sessionId, isWaiting);
    expect(events.find(({ type }) => type === "turn.failed")?.data).toMatchObject({ code: "result_unknown" });
    expect(commits(turnId)).toBe(1);

    // The server died after the commit and before it could record the turn's end.
    const { sessionId: second, end } = await turnOf("VERDICT: kept");
    await emitted.kill();
    const trace = join(emitted.stateRoot, "traces", `${second}.ndjson`);
    const lines = readFileSync(trace, "utf8").trimEnd().split("\n");
    const cut = lines.findIndex((line) => line.includes('"turn.completed"'));
    writeFileSync(trace, "");
    appendFileSync(trace, `${lines.slice(0, cut).join("\n")}\n`);
    const index = join(emitted.stateRoot, "index.ndjson");
    const row =
      readFileSync(index, "utf8")
        .trimEnd()
        .split("\n")
        .filter((line) => line.includes(second))
        .at(-1) ?? "";
    appendFileSync(index, `${JSON.stringify({ ...JSON.parse(row), status: "running", open: true })}\n`);
    base = await emitted.start(env);
    const again = await followUntil(base, second, isWaiting);
    expect(again.find(({ type }) => type === "turn.completed")?.data).toMatchObject({ result: { verdict: "kept" } });
    expect(commits(end?.turnId)).toBe(1);
  });

  test("a stop during a commit cancels the turn", async () => {
    const { sessionId } = await startCommit();
    const stopped = await call(`${base}/v1/session/${sessionId}/stop`, { body: {} });
    expect(stopped.body).toMatchObject({ stopped: true });
    const events = await followUntil(base, sessionId, isWaiting);
    expect(events.find(({ type }) => type === "turn.failed")?.data).toMatchObject({ status: "cancelled" });
  });
});
