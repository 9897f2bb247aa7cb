/** Every example bot: validates, type-checks (`npm test` does that for all at once), builds, and answers over HTTP. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packageRoot } from "./guards/source-files.js";

const cli = join(packageRoot, "dist/cli/bdk.js");
const projects = join(packageRoot, "fixtures/projects");

interface Call {
  readonly agent: string;
  readonly tool: string;
  readonly input?: unknown;
  readonly isError?: boolean;
  readonly result: unknown;
}

interface Bot {
  readonly dir: string;
  /** Codes of the warnings that belong to it. */
  readonly warnings?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly calls: readonly Call[];
  /** Answers of one turn: one more where `result.ts` sends the first one back. Default 1. */
  readonly replies?: number;
  /** What `/v1/info` says, in part. */
  readonly info: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const named = (...names: readonly string[]) => names.map((name) => expect.objectContaining({ name }));

const bots: readonly Bot[] = [
  {
    dir: "pr-approver",
    calls: [
      {
        agent: "pr-approver",
        tool: "inspect_pr",
        input: { prUrl: "https://github.com/acme/checkout/pull/43" },
        result: expect.objectContaining({ draft: true, complexity: "high", author: "jonas" }),
      },
      {
        agent: "pr-approver",
        tool: "approve_pr",
        input: { prUrl: "https://github.com/acme/checkout/pull/43", summary: "fine" },
        isError: true,
        result: { message: "https://github.com/acme/checkout/pull/43 is a draft." },
      },
      {
        agent: "pr-approver",
        tool: "approve_pr",
        input: { prUrl: "https://github.com/acme/checkout/pull/42", summary: "Small and tested." },
        result: expect.objectContaining({ recorded: true, verdict: "approve" }),
      },
    ],
    info: {
      "pr-approver": {
        tools: named("approve_pr", "inspect_pr"),
        skills: named("pr-review"),
        hooks: named("audit", "usage"),
      },
    },
  },
  {
    dir: "legacy-july",
    warnings: ["BDK2011"],
    calls: [{ agent: "legacy-july", tool: "to_fahrenheit", input: { celsius: "100" }, result: { fahrenheit: 212 } }],
    info: { "legacy-july": { name: "Legacy simulator v1.0", hooks: named("memory") } },
  },
  {
    dir: "mcp-tools",
    calls: [
      { agent: "mcp-tools", tool: "route_query", input: { region: "eu" }, result: { region: "eu", priority: 0 } },
    ],
    info: { "mcp-tools": { name: "mcp-tools" } },
  },
  {
    dir: "json-tools",
    calls: [
      { agent: "json-tools", tool: "ping", result: "pong" },
      {
        agent: "json-tools",
        tool: "notebook",
        input: { action: "put", key: "a", value: { n: 1 } },
        result: { notes: 1 },
      },
      { agent: "json-tools", tool: "notebook", input: { action: "get", key: "a" }, result: { n: 1 } },
      { agent: "json-tools", tool: "notebook", input: { action: "list" }, result: ["a"] },
      { agent: "json-tools", tool: "count_words", input: { text: "one two  three" }, result: 3 },
      { agent: "json-tools", tool: "fail", isError: true, result: { message: "the notebook is on fire" } },
      {
        agent: "json-tools",
        tool: "render-swatch",
        input: { color: "#ff8800" },
        result: expect.objectContaining({ structuredContent: { red: 255, green: 136, blue: 0 } }),
      },
      {
        agent: "json-tools",
        tool: "render-swatch",
        input: { color: "orange" },
        isError: true,
        result: expect.anything(),
      },
    ],
    info: {
      "json-tools": { name: "JSON tools", tools: named("count_words", "fail", "notebook", "ping", "render-swatch") },
    },
  },
  {
    dir: "zod3-bot",
    calls: [
      {
        agent: "zod3-bot",
        tool: "book_room",
        input: { room: "red", people: "4", slot: { start: "2026-12-01T09:00:00+01:00" }, notes: "  window " },
        result: { room: "red", people: 4, until: "2026-12-01T08:30:00.000Z", notes: "window" },
      },
    ],
    info: { "zod3-bot": { name: "zod3-bot" } },
  },
  {
    dir: "env-bot",
    env: { ENV_BOT_TEAM: "checkout", ENV_BOT_GREETING: "moin", ENV_BOT_TOKEN: "very-secret-value" },
    calls: [
      {
        agent: "env-bot",
        tool: "whoami",
        result: { greeting: "moin", region: "eu", team: "checkout", hasToken: true },
      },
    ],
    info: { "env-bot": { name: "env.bot", description: "On call for checkout." } },
  },
  {
    dir: "handbook",
    calls: [{ agent: "handbook", tool: "list_limits", result: { train: 200, hotel: 140, meal: 28 } }],
    info: {
      handbook: {
        skills: named("expenses", "on-call", "release-notes"),
        hooks: named("audit/questions", "everything"),
      },
    },
  },
  {
    dir: "newsroom",
    calls: [
      {
        agent: "newsroom",
        tool: "search_archive",
        input: { query: "LIBRARY cats" },
        result: ["The library has two cats."],
      },
    ],
    info: { newsroom: { subagents: named("fact-checker", "headline") } },
  },
  {
    dir: "clockwork",
    calls: [
      {
        agent: "clockwork",
        tool: "open_incidents",
        input: { severity: "high" },
        result: [{ id: "INC-7", severity: "high" }],
      },
    ],
    info: {
      clockwork: {
        schedules: named("heartbeat", "morning", "sweep"),
        reminders: named("recheck"),
        channels: named("desk"),
      },
    },
  },
  {
    dir: "connected",
    env: { TRACKER_TOKEN: "t", CLOCK_TZ: "UTC", FEED_URL: "https://feed.example.com" },
    calls: [{ agent: "connected", tool: "connections", result: ["clock", "feed", "tracker", "vault"] }],
    info: {
      connected: { mcpConnections: named("clock", "feed", "tracker"), tools: named("connections", "time_of_day") },
    },
  },
  {
    dir: "office",
    calls: [
      { agent: "front-desk", tool: "who_is_in", input: { weekday: "wed" }, result: ["Ada", "Grace"] },
      {
        agent: "archive",
        tool: "find_person",
        input: { name: "grace" },
        result: { name: "Grace", days: ["wed", "thu", "fri"] },
      },
    ],
    info: { "front-desk": { mcpConnections: named("archive") }, archive: { tools: named("find_person") } },
  },
  {
    dir: "oncall",
    calls: [
      {
        agent: "oncall",
        tool: "look_up",
        input: { service: "search" },
        result: { service: "search", status: "healthy", owner: "discovery" },
      },
    ],
    info: {
      oncall: {
        channels: [expect.objectContaining({ name: "slack", pack: "slack" })],
        schedules: named("morning"),
        tools: named("look_up", "page", "restart"),
      },
    },
  },
  {
    dir: "gatekeeper",
    calls: [
      { agent: "gatekeeper", tool: "last_push", input: { repository: "acme/checkout" }, result: null },
      {
        agent: "gatekeeper",
        tool: "open_pull_requests",
        input: { owner: "acme", repo: "checkout" },
        isError: true,
        result: { message: expect.stringContaining("set GATEKEEPER_GITHUB_TOKEN") },
      },
    ],
    info: {
      gatekeeper: {
        channels: [
          expect.objectContaining({ name: "billing", pack: "webhook" }),
          expect.objectContaining({ name: "github", pack: "github" }),
        ],
        schedules: named("monday"),
      },
    },
  },
  {
    dir: "reports",
    replies: 2,
    calls: [{ agent: "reports", tool: "week_of", input: { date: "2026-01-15" }, result: { week: 3 } }],
    info: { reports: { tools: named("file_report", "week_of") } },
  },
];

interface Finding {
  readonly code: string;
  readonly severity: string;
  readonly message: string;
}

async function bdk(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return promisify(execFile)(process.execPath, [cli, ...args], { env: { ...bareEnv, ...env }, maxBuffer: 64 << 20 });
}

/** What a process needs to run at all; no keys, no tokens. */
const bareEnv = Object.fromEntries(
  ["PATH", "HOME", "TMPDIR"].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  }),
);

async function serveBundle(bundle: string, cwd: string, env: Readonly<Record<string, string>>) {
  const args = [join(bundle, "server.mjs"), "--port", "0", "--model", "offline", "--json"];
  const child = spawn(process.execPath, args, { cwd, env: { ...bareEnv, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log += text;
  });
  const lines = createInterface({ input: child.stdout });
  const url = await new Promise<string>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`server.mjs ended with ${code}: ${log}`)));
    lines.on("line", (line) => {
      const event: { event?: string; url?: string } = line.startsWith("{") ? JSON.parse(line) : {};
      if (event.event === "listening" && event.url !== undefined) resolve(event.url);
    });
  });
  return { child, url, log: () => log };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  await gone;
}

async function post(url: string, body: unknown): Promise<Record<string, unknown>> {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  return (await (await fetch(url, init)).json()) as Record<string, unknown>;
}

/** Sends one message and reads the stream until the session waits again. */
async function talk(
  base: string,
  message: string,
): Promise<readonly { type: string; data: Record<string, unknown> }[]> {
  const { sessionId } = await post(`${base}/v1/session`, { message });
  const stopReading = new AbortController();
  const response = await fetch(`${base}/v1/session/${String(sessionId)}/stream`, { signal: stopReading.signal });
  const events: { type: string; data: Record<string, unknown> }[] = [];
  let rest = "";
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") events.push(JSON.parse(line));
    if (events.some((each) => each.type === "session.waiting")) break;
  }
  stopReading.abort();
  return events;
}

describe.each(bots)("$dir", (bot) => {
  let folder = "";
  let server: Awaited<ReturnType<typeof serveBundle>>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), `bdk-${bot.dir}-`));
    await mkdir(join(folder, "run"));
    await bdk(["build", "--dir", join(projects, bot.dir), "--out", join(folder, "bundle")]);
    server = await serveBundle(join(folder, "bundle"), join(folder, "run"), bot.env ?? {});
  });
  afterAll(async () => {
    if (server !== undefined) await stop(server.child);
    await rm(folder, { recursive: true, force: true });
  });

  it("validates", async () => {
    const { stdout } = await bdk(["validate", "--dir", join(projects, bot.dir), "--json"], bot.env);
    const { diagnostics } = JSON.parse(stdout) as { diagnostics: readonly Finding[] };
    expect(diagnostics.filter((each) => each.severity === "error")).toEqual([]);
    expect(diagnostics.map((each) => each.code)).toEqual(bot.warnings ?? []);
  });

  it("tells what it consists of", async () => {
    for (const [slug, expected] of Object.entries(bot.info)) {
      const response = await fetch(`${server.url}/${slug}/v1/info`);
      expect(response.status).toBe(200);
      const { agents } = (await response.json()) as { agents: readonly Record<string, unknown>[] };
      expect(agents[0]).toMatchObject(expected);
    }
  });

  it("calls its tools", async () => {
    for (const { agent, tool, input, isError = false, result } of bot.calls) {
      const answer = await post(`${server.url}/${agent}/v1/tools/${tool}`, input === undefined ? {} : { input });
      expect(answer, `${tool} ${JSON.stringify(input)}`).toMatchObject({ ok: true, toolName: tool, isError });
      expect(answer.result).toEqual(result);
    }
  });

  it("answers a message, with a tool call where it has one", async () => {
    for (const slug of Object.keys(bot.info)) {
      const call = bot.calls.find((each) => each.agent === slug && each.isError !== true);
      const message = call === undefined ? "hello" : `/${call.tool} ${JSON.stringify(call.input ?? {})}`;
      const events = await talk(`${server.url}/${slug}`, message);
      expect(events.map((each) => each.type)).not.toContain("turn.failed");
      const replies = events.filter((each) => each.type === "message.completed" && each.data.finishReason === "stop");
      expect(replies).toHaveLength(bot.replies ?? 1);
      if (call !== undefined) {
        const results = events.filter((each) => each.type === "action.result").map((each) => each.data);
        expect(results).toMatchObject([{ toolName: call.tool, isError: false }]);
      }
    }
  });

  it("carries nothing of the machine it was built on", async () => {
    const text = await readFile(join(folder, "bundle/manifest.json"), "utf8");
    expect(text).not.toContain(packageRoot.replace(/\/$/, ""));
    const code = await readFile(join(folder, "bundle/server.mjs"), "utf8");
    expect(code).not.toContain(packageRoot.replace(/\/$/, ""));
    for (const secret of Object.values(bot.env ?? {}).filter((value) => value.length > 4)) {
      expect(text).not.toContain(secret);
    }
  });
});

describe("where a bot is built", () => {
  it("makes no difference: the same bytes from another folder", async () => {
    const folder = await mkdtemp(join(tmpdir(), "bdk-twice-"));
    try {
      const outputs = await Promise.all(
        ["one", "two"].map(async (name) => {
          const copy = join(folder, name, "pr-approver");
          await cp(join(projects, "pr-approver"), copy, { recursive: true });
          await bdk(["build", "--dir", copy, "--out", join(folder, name, "out")]);
          const read = (file: string) => readFile(join(folder, name, "out", file), "utf8");
          return { manifest: await read("manifest.json"), code: await read("server.mjs") };
        }),
      );
      expect(outputs[0]?.manifest).toBe(outputs[1]?.manifest);
      expect(outputs[0]?.code === outputs[1]?.code).toBe(true);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
