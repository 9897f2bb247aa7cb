import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { cpuMs, median } from "../measure.mjs";
import { build, conversation, post, project, round, row, serverOf, until, work } from "../workbench.mjs";

/** Turns on the offline model: one, many at once, late ones of a long session. */
export async function turns() {
  const dir = project(10);
  const out = join(work, "turns");
  await build(dir, out);
  const server = await serverOf(out, mkdtempSync(join(work, "turns-cwd-")));
  const base = server.value;
  const turn = async () => {
    const { sessionId } = await post(`${base}/v1/session`, { message: "hi" });
    await until(base, sessionId, "session.waiting");
  };
  for (let i = 0; i < 100; i += 1) await turn();
  const times = [];
  for (let i = 0; i < 200; i += 1) {
    const started = performance.now();
    await turn();
    times.push(performance.now() - started);
  }
  row("trivial turn, offline, new session, p50", median(times), "ms", "≤ 5", median(times) <= 5);

  // 32 conversations, each with its stream open, each sending the next message when the turn before has ended.
  const per = 100;
  const open = await Promise.all(Array.from({ length: 32 }, () => conversation(base)));
  const began = performance.now();
  const cpuBefore = cpuMs(server.child.pid);
  await Promise.all(
    open.map(async (each) => {
      for (let i = 0; i < per; i += 1) await each.turn();
    }),
  );
  const total = per * open.length;
  const rate = total / ((performance.now() - began) / 1000);
  const perTurn = (cpuMs(server.child.pid) - cpuBefore) / total;
  row(`turns at 32 sessions (${round(perTurn)} ms server CPU each)`, rate, "/s", "≥ 500", rate >= 500);
  for (const each of open) each.close();

  const session = await post(`${base}/v1/session`, { message: "hi" });
  let token = session.continuationToken;
  let index = await until(base, session.sessionId, "session.waiting");
  const follow = async () => {
    const started = performance.now();
    ({ continuationToken: token } = await post(`${base}/v1/session/${session.sessionId}`, {
      continuationToken: token,
      message: "hi",
    }));
    index = await until(base, session.sessionId, "session.waiting", index + 1);
    return performance.now() - started;
  };
  const early = [];
  const late = [];
  for (let i = 2; i <= 220; i += 1) {
    const ms = await follow();
    if (i <= 40) early.push(ms);
    if (i > 180) late.push(ms);
  }
  row(
    "turn 200 of one session against its first",
    median(late) / median(early),
    "×",
    "≤ 1.1",
    median(late) / median(early) <= 1.1,
  );
  while (index < 10_000) await follow();
  const deep = [];
  for (let i = 0; i < 40; i += 1) deep.push(await follow());
  row(
    "turn at 10,000 events against the first",
    median(deep) / median(early),
    "×",
    "≤ 1.5",
    median(deep) / median(early) <= 1.5,
  );
  await server.stop();
}
