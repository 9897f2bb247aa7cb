import { setMaxListeners } from "node:events";
import { mkdtempSync } from "node:fs";
import { get } from "node:http";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { cpuMs, rssMb } from "../measure.mjs";
import { build, post, project, round, row, serverOf, work } from "../workbench.mjs";

const sessions = 200;
const turns = 10;
const atOnce = 32;
/** Milliseconds after which the section gives up. */
const limit = 90_000;

/** Many sessions with many readers of their streams, some slow, some gone and back, some stuck: what is lost, doubled, kept in memory. */
export async function load() {
  const out = join(work, "load");
  await build(project(10), out);
  const server = await serverOf(out, mkdtempSync(join(work, "load-cwd-")));
  const deadline = AbortSignal.timeout(limit);
  setMaxListeners(0, deadline);
  try {
    await crowd(server, deadline);
    await stuckReaders(server, deadline);
  } finally {
    await server.stop();
  }
}

async function crowd({ value: base, child }, deadline) {
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, rssMb(child.pid));
  }, 50);
  const began = performance.now();
  const cpuBefore = cpuMs(child.pid);
  const waiting = Array.from({ length: sessions }, (_, at) => at);
  const faults = [];
  const readers = [];
  const work = async () => {
    while (waiting.pop() !== undefined) {
      const session = await post(`${base}/v1/session`, { message: "hello" });
      // The first one tells when a turn is over; the others read as readers do.
      const pace = reader(base, session.sessionId, "fast", deadline);
      readers.push(
        pace,
        ...["fast", "slow", "vanishing", "late"].map((kind) => reader(base, session.sessionId, kind, deadline)),
      );
      let token = session.continuationToken;
      for (let turn = 1; turn <= turns; turn += 1) {
        await pace.reached(turn);
        if (turn === turns) break;
        const message = `turn ${turn} ${"x".repeat(200)}`;
        ({ continuationToken: token } = await post(`${base}/v1/session/${session.sessionId}`, {
          continuationToken: token,
          message,
        }));
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  const rate = (sessions * turns) / ((performance.now() - began) / 1000);
  await Promise.all(readers.map((each) => each.reached(turns)));
  const cpu = cpuMs(child.pid) - cpuBefore;
  for (const each of readers) {
    each.close();
    faults.push(...each.faults);
  }
  clearInterval(watch);
  if (faults.length > 0) process.stderr.write(`  ${faults.slice(0, 5).join("\n  ")}\n`);
  const events = readers.reduce((sum, each) => sum + each.read, 0);
  row(
    `events lost or doubled, of ${events} that ${readers.length} readers got`,
    faults.length,
    "",
    "0",
    faults.length === 0,
  );
  const perTurn = cpu / (sessions * turns);
  row(`server CPU a turn, 5 readers each (${round(rate)} turns/s)`, perTurn, "ms", "≤ 8", perTurn <= 8);
  row("RSS at most meanwhile", peak, "MB", "≤ 300", peak <= 300);
}

/** Readers that never read, of a log far larger than sockets hold: they must cost the server next to nothing. */
async function stuckReaders({ value: base, child }, deadline) {
  const count = 100;
  const { sessionId, continuationToken } = await post(`${base}/v1/session`, { message: "x".repeat(200_000) });
  const first = reader(base, sessionId, "fast", deadline);
  await first.reached(1);
  let token = continuationToken;
  for (let turn = 2; turn <= 20; turn += 1) {
    const message = "y".repeat(200_000);
    ({ continuationToken: token } = await post(`${base}/v1/session/${sessionId}`, {
      continuationToken: token,
      message,
    }));
    await first.reached(turn);
  }
  first.close();
  const stuck = [];
  const add = async () => {
    const more = Array.from({ length: count }, () => reader(base, sessionId, "stuck", deadline));
    stuck.push(...more);
    await Promise.all(more.map((each) => each.opened));
    let last = -1;
    for (let now = rssMb(child.pid); Math.abs(now - last) > 1; now = rssMb(child.pid)) {
      last = now;
      await pause(250);
    }
    return last;
  };
  // The first ones take what the process keeps for work of this kind; what the others add is theirs.
  const before = await add();
  const each = (Math.max((await add()) - before, 0) * 1024) / count;
  const size = round(first.bytes / 1e6);
  row(`memory for a reader that is stuck in a log of ${size} MB`, each, "kB", "≤ 2048", each <= 2048);
  const [one, ...others] = stuck;
  for (const other of others) other.close();
  one.goOn();
  await one.reached(20);
  one.close();
  const isWhole = one.faults.length === 0 && one.bytes >= first.bytes;
  row("bytes that one of them gets once it reads, of all", one.bytes / first.bytes, "×", "≥ 1", isWhole);
}

/** Reads a session's stream in the manner of `kind`, and checks that every index comes once and in order. */
function reader(base, sessionId, kind, deadline) {
  const url = `${base}/v1/session/${sessionId}/stream`;
  const state = { faults: [], read: 0, bytes: 0, next: 0, ended: 0, isClosed: false };
  const waiting = new Set();
  let response;
  let request;
  let opened;
  const wake = () => {
    for (const each of waiting) each();
  };
  const fail = (what) => {
    state.faults.push(`${kind} reader of ${sessionId}: ${what}`);
    wake();
  };
  deadline.addEventListener("abort", () => fail(`not done after ${limit} ms`), { once: true });

  const open = () => {
    request = get(`${url}?startIndex=${state.next}`, { agent: false }, (incoming) => {
      response = incoming;
      if (incoming.statusCode !== 200) fail(`status ${incoming.statusCode}`);
      let rest = "";
      // A reader that vanishes does so in the middle of something.
      const until = kind === "vanishing" ? state.next + 7 : Number.POSITIVE_INFINITY;
      incoming.setEncoding("utf8");
      if (kind === "stuck") incoming.pause();
      incoming.on("data", (chunk) => {
        if (incoming.destroyed) return;
        state.bytes += chunk.length;
        const lines = (rest + chunk).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) {
          take(JSON.parse(line));
          if (state.next < until || state.isClosed) continue;
          incoming.destroy();
          setTimeout(open, 20);
          break;
        }
        wake();
        if (kind !== "slow") return;
        incoming.pause();
        setTimeout(() => incoming.resume(), 100);
      });
      incoming.on("error", (error) => {
        if (!incoming.destroyed) fail(String(error));
      });
      opened();
    });
    request.on("error", (error) => {
      if (!state.isClosed && response?.destroyed !== true) fail(String(error));
    });
  };
  const take = ({ index, type }) => {
    if (index !== state.next) state.faults.push(`${kind} reader of ${sessionId}: ${index} where ${state.next} belongs`);
    state.next = index + 1;
    state.read += 1;
    if (type === "session.waiting") state.ended += 1;
  };
  const isOpen = new Promise((resolve) => {
    opened = resolve;
  });
  if (kind === "late") setTimeout(open, 200);
  else open();

  return {
    opened: isOpen,
    get faults() {
      return state.faults;
    },
    get read() {
      return state.read;
    },
    get bytes() {
      return state.bytes;
    },
    goOn: () => response.resume(),
    /** Resolves when `count` turns have ended, or something went wrong. */
    reached: (count) =>
      new Promise((resolve) => {
        const check = () => {
          if (state.ended < count && state.faults.length === 0) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
    close() {
      state.isClosed = true;
      request?.destroy();
    },
  };
}
