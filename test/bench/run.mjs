// `npm run bench [-- name…]`: one table of figures against their budgets. Ratios are taken within one run, since machines are noisy.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { benchExtensions } from "./extensions.mjs";
import { generateProject } from "./generate.mjs";
import { cpuMs, listeningUrl, load, median, rssMb, runCommand, startServer } from "./measure.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const bdk = resolve(here, "../../dist/cli/bdk.js");
const work = mkdtempSync(join(tmpdir(), "bdk-bench-"));
const rows = [];
const wanted = process.argv.slice(2);

function row(what, figure, unit, budget, ok) {
  rows.push({
    what,
    figure: typeof figure === "number" ? round(figure) : figure,
    unit,
    budget,
    ok: ok ? "ok" : "MISSED",
  });
  process.stderr.write(`  ${what}: ${rows.at(-1).figure} ${unit} (budget ${budget}) ${rows.at(-1).ok}\n`);
}
const round = (value) => (value >= 100 ? Math.round(value) : Number(value.toPrecision(3)));
const json = { "content-type": "application/json" };

async function post(url, body) {
  const response = await fetch(url, { method: "POST", headers: json, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return response.json();
}

/** Follows a session's stream until `type` occurs `count` times from `startIndex` on; resolves to the last index read. */
async function until(base, sessionId, type, startIndex = 0) {
  const control = new AbortController();
  const response = await fetch(`${base}/v1/session/${sessionId}/stream?startIndex=${startIndex}`, {
    signal: control.signal,
  });
  let rest = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    rest += chunk;
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const event = JSON.parse(line);
      if (event.type === type) {
        control.abort();
        return event.index;
      }
    }
  }
  throw new Error(`stream of ${sessionId} ended before ${type}`);
}

/** A session with its stream kept open; `turn()` sends a message and resolves when that turn has ended. */
async function conversation(base) {
  const control = new AbortController();
  const { sessionId, continuationToken } = await post(`${base}/v1/session`, { message: "hi" });
  let token = continuationToken;
  let waiting = 0;
  let wake;
  const response = await fetch(`${base}/v1/session/${sessionId}/stream`, { signal: control.signal });
  const reading = (async () => {
    let rest = "";
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (!line.includes('"type":"session.waiting"')) continue;
        waiting += 1;
        wake?.();
      }
    }
  })().catch((error) => {
    if (!control.signal.aborted) throw error;
  });
  const turns = async (count) => {
    while (waiting < count) {
      await new Promise((done) => {
        wake = done;
      });
    }
  };
  await turns(1);
  let sent = 1;
  return {
    async turn() {
      const answer = await post(`${base}/v1/session/${sessionId}`, { continuationToken: token, message: "hi" });
      token = answer.continuationToken;
      sent += 1;
      await turns(sent);
    },
    close() {
      control.abort();
      return reading;
    },
  };
}

function project(tools) {
  const dir = join(work, `project-${tools}`);
  generateProject(dir, { tools });
  return dir;
}

function build(dir, out, extra = [], env = {}) {
  return runCommand([process.execPath, bdk, "build", "--dir", dir, "--out", out, ...extra], {
    env: { ...process.env, XDG_CACHE_HOME: join(work, "cache"), ...env },
  });
}

function serverOf(out, cwd, flags = []) {
  return startServer(
    [
      process.execPath,
      join(out, "server.mjs"),
      "--port",
      "0",
      "--json",
      "--model",
      "offline",
      "--mode",
      "single",
      ...flags,
    ],
    listeningUrl,
    { cwd, env: { PATH: process.env.PATH, HOME: join(work, "home") } },
  );
}

const sections = {
  async build() {
    for (const tools of [10, 1000]) {
      const dir = project(tools);
      const runs = [];
      for (let i = 0; i < 3; i += 1) {
        const cache = join(work, `cold-${tools}-${i}`);
        runs.push(await build(dir, join(work, `out-${tools}`), [], { XDG_CACHE_HOME: cache, BDK_CACHE_DIR: cache }));
      }
      const cpu = median(runs.map((run) => run.cpu));
      const peak = Math.max(...runs.map((run) => run.peakMb));
      if (tools === 10) {
        row("build, 10 tools, cold", cpu, "CPU s", "≤ 1.0", cpu <= 1.0);
        row("build, 10 tools, cold, peak RSS", peak, "MB", "≤ 250", peak <= 250);
      } else {
        row("build, 1000 tools, cold", cpu, "CPU s", "≤ 5.0", cpu <= 5.0);
        const env = { BDK_CACHE_DIR: join(work, "warm") };
        await build(dir, join(work, "out-warm"), [], env);
        const same = await build(dir, join(work, "out-warm"), [], env);
        row("build, 1000 tools, warm, nothing changed", same.cpu, "CPU s", "≤ 2.0", same.cpu <= 2.0);
        const file = join(dir, "bot/tools/tool_0001.ts");
        writeFileSync(file, `${readFileSync(file, "utf8")}\nexport const edited = 1;\n`);
        const edited = await build(dir, join(work, "out-warm"), [], env);
        row("build, 1000 tools, warm, one file edited", edited.cpu, "CPU s", "≤ 2.0", edited.cpu <= 2.0);
      }
    }
  },

  async dev() {
    for (const [tools, budget] of [
      [10, 150],
      [1000, 400],
    ]) {
      const dir = project(tools);
      const events = [];
      const server = await startServer(
        [
          process.execPath,
          bdk,
          "dev",
          "--dir",
          dir,
          "--port",
          "0",
          "--json",
          "--model",
          "offline",
          "--mode",
          "single",
          "--state-root",
          join(work, `dev-${tools}`),
        ],
        (line) => {
          if (line.startsWith("{")) events.push(JSON.parse(line));
          return listeningUrl(line);
        },
        { cwd: work },
      );
      const url = `${server.value}/v1/tools/tool_0001`;
      const file = join(dir, "bot/tools/tool_0001.ts");
      const original = readFileSync(file, "utf8");
      const ask = async () => (await post(url, { input: { text: "x", count: 1 } })).result;
      const baseline = JSON.stringify(await ask());
      const times = [];
      const failures = [];
      for (let i = 0; i < 12; i += 1) {
        const mark = `mark-${i}`;
        const started = performance.now();
        writeFileSync(file, original.replaceAll("GENERATED", mark));
        for (;;) {
          const answer = await ask().catch((error) => {
            failures.push(error);
            return undefined;
          });
          if (answer !== undefined && JSON.stringify(answer).includes(mark)) break;
          if (performance.now() - started > 20_000) throw new Error(`edit ${i} never answered; first was ${baseline}`);
        }
        times.push(performance.now() - started);
      }
      row(`edit → new code answers, ${tools} tools`, median(times), "ms", `≤ ${budget}`, median(times) <= budget);
      row(`failed requests meanwhile, ${tools} tools`, failures.length, "", "0", failures.length === 0);
      await server.stop();
    }
    const { createCompiler } = await import("../../dist/cli/api/build.js");
    const compiler = createCompiler(project(1000), { environment: "strict", until: "project" });
    await compiler.compile();
    const started = performance.now();
    await compiler.compile();
    const ms = performance.now() - started;
    row("rebuild with nothing changed, 1000 tools", ms, "ms", "≤ 100", ms <= 100);
    await compiler.close();
  },

  async size() {
    const dir = project(10);
    const agent = join(dir, "bot/agent.ts");
    const kept = readFileSync(agent, "utf8");
    for (const [model, budget] of [
      ["offline", 1.2],
      ["grok-4.5", 1.8],
    ]) {
      writeFileSync(agent, kept.replace(/model: "[^"]*"/, `model: "${model}"`));
      const out = join(work, `size-${model}`);
      await build(dir, out);
      const mb = statSync(join(out, "server.mjs")).size / 1e6;
      row(`server.mjs, 10 tools, ${model}`, mb, "MB", `≤ ${budget}`, mb <= budget);
    }
    writeFileSync(agent, kept);
  },

  async startup() {
    const dir = project(10);
    const out = join(work, "startup");
    await build(dir, out);
    const bare = join(work, "bare.mjs");
    writeFileSync(
      bare,
      'import { createServer } from "node:http";\nconst s = createServer((q, r) => r.end("ok")).listen(0, "127.0.0.1", () => console.log(JSON.stringify({ event: "listening", url: `http://127.0.0.1:${s.address().port}` })));\n',
    );
    const cwd = mkdtempSync(join(work, "empty-"));
    const measure = async (start, path) => {
      const server = await start();
      const response = await fetch(server.value + path);
      await response.text();
      const cpu = cpuMs(server.child.pid);
      if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
      return { server, cpu };
    };
    const bareRuns = [];
    const ourRuns = [];
    for (let i = 0; i < 11; i += 1) {
      const one = await measure(() => startServer([process.execPath, bare], listeningUrl, { cwd }), "/");
      bareRuns.push(one.cpu);
      await one.server.stop();
      const two = await measure(() => serverOf(out, cwd), "/v1/health");
      ourRuns.push(two.cpu);
      await two.server.stop();
    }
    const extra = median(ourRuns) - median(bareRuns);
    row("spawn → first 200, over bare node:http", extra, "ms CPU", "≤ 60", extra <= 60);
    const idle = await serverOf(out, cwd);
    await fetch(`${idle.value}/v1/health`);
    await new Promise((done) => setTimeout(done, 3000)); // idle means that nothing is asked of it for a while
    const rss = rssMb(idle.child.pid);
    row("idle RSS", rss, "MB", "≤ 80", rss <= 80);
    await idle.stop();
  },

  async tools() {
    const dir = project(10);
    const out = join(work, "tools");
    await build(dir, out);
    const cwd = mkdtempSync(join(work, "tools-cwd-"));
    const ours = await serverOf(out, cwd);
    const bare = await startServer([process.execPath, join(here, "bare-fastify.mjs")], listeningUrl);
    const options = { connections: 32, ms: 2000 };
    const body = JSON.stringify({ input: { text: "hello", count: 3 } });
    const ratios = [];
    let last;
    for (let i = 0; i < 5; i += 1) {
      const theirs = await load(`${bare.value}/v1/tools/tool_0001`, { ...options, body });
      const mine = await load(`${ours.value}/v1/tools/tool_0001`, { ...options, body });
      if (i > 0) ratios.push(mine / theirs); // the first round warms both up
      last = { mine, theirs };
    }
    row(
      `POST /v1/tools/:name, 32 connections, against bare fastify (${Math.round(last.mine)} to ${Math.round(last.theirs)} /s)`,
      median(ratios),
      "×",
      "≥ 0.8",
      median(ratios) >= 0.8,
    );
    await ours.stop();
    await bare.stop();
  },

  async turns() {
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
  },

  async waiting() {
    const dir = project(10);
    const out = join(work, "waiting");
    await build(dir, out);
    const cwd = mkdtempSync(join(work, "waiting-cwd-"));
    const empty = mkdtempSync(join(work, "waiting-none-"));
    const server = await serverOf(out, cwd);
    for (let i = 0; i < 1000; i += 50) {
      await Promise.all(
        Array.from({ length: 50 }, async () => {
          const { sessionId } = await post(`${server.value}/v1/session`, { message: "hi" });
          await until(server.value, sessionId, "session.waiting");
        }),
      );
    }
    await server.stop();
    const start = async (folder) => {
      const one = await serverOf(out, folder);
      await (await fetch(`${one.value}/v1/health`)).text();
      const cpu = cpuMs(one.child.pid);
      await one.stop();
      return cpu;
    };
    await start(empty);
    const none = [];
    const many = [];
    for (let i = 0; i < 9; i += 1) {
      none.push(await start(empty));
      many.push(await start(cwd));
    }
    const ratio = median(many) / median(none);
    row("startup with 1,000 waiting sessions against none", ratio, "×", "≤ 1.1", ratio <= 1.1);
  },
};

sections.extensions = () => benchExtensions({ work, build, row });

const names = wanted.length === 0 ? Object.keys(sections) : wanted;
mkdirSync(join(work, "home"), { recursive: true });
try {
  for (const name of names) {
    const section = sections[name];
    if (section === undefined) throw new Error(`no section "${name}"; there are: ${Object.keys(sections).join(", ")}`);
    process.stderr.write(`${name}\n`);
    await section();
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
const width = Math.max(...rows.map((each) => each.what.length));
for (const each of rows) {
  console.log(
    `${each.what.padEnd(width)}  ${`${each.figure} ${each.unit}`.padStart(14)}  ${each.budget.padStart(8)}  ${each.ok}`,
  );
}
process.exitCode = rows.every((each) => each.ok === "ok") ? 0 : 1;
