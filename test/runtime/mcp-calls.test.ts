/** Calls that go wrong: tools that misbehave, clients that leave, arguments and headers that don't fit. */
import { readFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import * as z from "zod/v4";
import { defineTool } from "../../runtime/authoring/tools.js";
import { decodeHeaderValue } from "../../runtime/mcp/header-value.js";
import { makeBundle } from "./support/bundle.js";
import { startHost } from "./support/host.js";
import { generations } from "./support/mcp-clients.js";
import { expectAlive, meta, modern, rpc, type Sent, stateless } from "./support/mcp-rpc.js";
import { createGate, createTester } from "./support/tester.js";

interface Report {
  readonly status: string;
  readonly sessionId: string;
  readonly result?: string;
}

const reportIn = ({ body: { result = {} } }: Pick<Sent, "body">): Report => result.structuredContent as Report;

describe("tools", () => {
  it("survives a tool that throws anything, gives what JSON can't carry, or never ends", async () => {
    const unreadable = {
      get message(): string {
        throw new Error("trap");
      },
    };
    const strange = {
      nothing: defineTool({ description: "Throws nothing.", execute: () => Promise.reject(undefined) }),
      circle: defineTool({
        description: "Holds itself.",
        execute: () => {
          const value: Record<string, unknown> = {};
          value.self = value;
          return value;
        },
      }),
      trap: defineTool({
        description: "Throws what throws when it is read.",
        execute: () => {
          throw unreadable;
        },
      }),
      lateTrap: defineTool({ description: "The same, later.", execute: () => Promise.reject(unreadable) }),
      thenable: defineTool({
        description: "Returns a promise of its own making.",
        execute: () => ({
          // biome-ignore lint/suspicious/noThenProperty: that is what is tried
          then: () => {
            throw new Error("no promise");
          },
        }),
      }),
      brokenInput: defineTool({
        description: "Its schema throws.",
        inputSchema: z.object({}).refine(() => {
          throw new Error("no rule");
        }),
        execute: () => "never",
      }),
      brokenOutput: defineTool({
        description: "Its schema throws.",
        outputSchema: z.object({}).refine(() => {
          throw new Error("no rule");
        }),
        execute: async () => ({}),
      }),
      slow: defineTool({
        description: "Never ends.",
        timeoutMs: 50,
        execute: () => new Promise<string>(() => undefined),
      }),
    };
    const { base } = await startHost(makeBundle([createTester({ tools: strange }).parts]));
    const url = `${base}/v1/mcp/tools`;
    for (const name of Object.keys(strange)) {
      const { status, body } = await rpc(url, "tools/call", { name });
      expect([name, status, body.result?.isError]).toEqual([name, 200, true]);
    }
    await expectAlive(url);
  });

  it("holds every form of a result to the outputSchema", async () => {
    const results: Record<string, unknown> = {
      plain: { a: 1 },
      filled: {},
      wrong: { a: "x" },
      wrapped: { content: [{ type: "text", text: "one" }], structuredContent: { a: 1 } },
      wrappedWrong: { content: [], structuredContent: { a: "x" } },
      alike: { content: "no list", a: "x" },
    };
    const typed = defineTool({
      description: "Gives what it is told.",
      inputSchema: z.object({ what: z.string() }),
      outputSchema: z.object({ a: z.number().default(7) }),
      execute: ({ what }) => results[what] as { a: number },
    });
    const { base } = await startHost(makeBundle([createTester({ tools: { typed } }).parts]));
    const given = async (what: string) => {
      const { body } = await stateless(`${base}/v1/mcp/tools`, "tools/call", { name: "typed", arguments: { what } });
      return body.result?.isError === true ? "refused" : body.result?.structuredContent;
    };
    expect(await Promise.all(Object.keys(results).map(given))).toEqual([
      { a: 1 },
      { a: 7 },
      "refused",
      { a: 1 },
      "refused",
      "refused",
    ]);
  });

  it("passes on no progress and no log line that is none", async () => {
    const odd = defineTool({
      description: "Says odd things.",
      execute: (_input, ctx) => {
        const { progress, log } = { progress: ctx.progress.bind(ctx), log: ctx.log.bind(ctx) } as Record<
          string,
          (...values: unknown[]) => void
        >;
        for (const value of [1, Number.NaN, Number.POSITIVE_INFINITY, "3", 0.5, 2])
          progress?.(value, Number.NaN, { a: 1 });
        log?.("loud", { a: 1n });
        log?.("info", "one\r\n12:00:00 error two");
        return "said";
      },
    });
    const host = await startHost(makeBundle([createTester({ tools: { odd } }).parts]));
    const { text } = await rpc(`${host.base}/v1/mcp/tools`, "tools/call", { name: "odd", _meta: { progressToken: 1 } });
    const told = text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []));
    expect(told.map(({ params, result }) => params?.progress ?? params?.level ?? result.content[0].text)).toEqual([
      ...[1, 2, "info", "info", "said"],
    ]);
    expect(told[0].params).toEqual({ progressToken: 1, progress: 1, message: '{"a":1}' });
    expect(host.lines.map(({ message }) => message.replace(/^\S+ /, ""))).toContain("one\n  12:00:00 error two");
  });

  it("sends log lines from the level that is asked for on, and writes all of them to the server's log", async () => {
    const chatty = defineTool({
      description: "Says something of each sort.",
      execute: (_input, ctx) => {
        for (const level of ["debug", "info", "warning", "error"] as const) ctx.log(level, `it is ${level}`);
        return "said";
      },
    });
    const host = await startHost(makeBundle([createTester({ tools: { chatty } }).parts]));
    const url = `${host.base}/v1/mcp/tools`;
    const levelsIn = ({ text }: Sent) => [...text.matchAll(/"level":"(\w+)"/g)].map(([, level]) => level);
    const _meta = { ...meta, "io.modelcontextprotocol/logLevel": "warning" };
    expect(levelsIn(await stateless(url, "tools/call", { name: "chatty", _meta }))).toEqual(["warning", "error"]);
    expect(levelsIn(await stateless(url, "tools/call", { name: "chatty" }))).toEqual([]);
    expect(levelsIn(await rpc(url, "tools/call", { name: "chatty" }))).toEqual(["info", "warning", "error"]);
    const plain = await rpc(url, "tools/call", { name: "chatty" }, { accept: "application/json" });
    expect([plain.headers.get("content-type"), levelsIn(plain)]).toEqual(["application/json; charset=utf-8", []]);
    const lines = host.lines.filter(({ message }) => message.includes("it is ")).map(({ level }) => level);
    expect(lines.slice(0, 4)).toEqual(["debug", "info", "warn", "error"]);
  });

  it("aborts a call whose client is gone in 2026-07-28, and lets it end in earlier revisions", async () => {
    const ended: string[] = [];
    const over = createGate();
    let gate = createGate();
    let begun = createGate();
    const hold = defineTool({
      description: "Holds on.",
      execute: async (_input, ctx) => {
        begun.open();
        const aborted = new Promise<string>((done) => ctx.signal.addEventListener("abort", () => done("aborted")));
        ended.push(await Promise.race([aborted, gate.opened.then(() => "ended")]));
        if (ended.length === 2) over.open();
        return "held";
      },
    });
    const { base } = await startHost(makeBundle([createTester({ tools: { hold } }).parts]));
    const url = new URL(`${base}/v1/mcp/tools`);
    const leave = async (headers: Record<string, string>, params: Record<string, unknown>) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "hold", ...params } });
      const sent = httpRequest(url, { method: "POST", headers: { "content-type": "application/json", ...headers } });
      const gone = new Promise((done) => sent.once("close", done));
      sent.on("error", () => undefined); // our own hanging up
      sent.end(body);
      await begun.opened;
      sent.destroy();
      await gone;
    };
    await leave({}, {});
    // A second request sees the server after it saw the first one's end.
    await expectAlive(url.href);
    gate.open();
    gate = createGate();
    begun = createGate();
    await leave({ "mcp-protocol-version": modern, "mcp-method": "tools/call", "mcp-name": "hold" }, { _meta: meta });
    await over.opened;
    expect(ended).toEqual(["ended", "aborted"]);
  });

  it("stops the turn that a taken-back ask began", async () => {
    const tester = createTester();
    const host = await startHost(makeBundle([tester.parts]));
    const gone = new AbortController();
    const params = { name: "ask", arguments: { message: "/wait {}" }, _meta: meta };
    const asked = fetch(`${host.base}/v1/mcp`, {
      method: "POST",
      signal: gone.signal,
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
      headers: {
        "content-type": "application/json",
        "mcp-protocol-version": modern,
        "mcp-method": "tools/call",
        "mcp-name": "ask",
      },
    });
    await tester.begun.opened;
    gone.abort();
    await expect(asked).rejects.toThrow();
    const { sessions } = (await (await fetch(`${host.base}/v1/sessions`)).json()) as { sessions: { id: string }[] };
    const id = sessions[0]?.id ?? "";
    const report = await rpc(`${host.base}/v1/mcp`, "tools/call", {
      name: "check",
      arguments: { sessionId: id, waitSeconds: 30 },
    });
    expect(report.body.result?.structuredContent).toMatchObject({ status: "cancelled", sessionId: id });
  });

  it("lets several asks write to one session at the same time, each with an end of its own", async () => {
    const { base } = await startHost(makeBundle([createTester().parts]));
    const ask = async (args: Record<string, unknown>) => {
      return reportIn(await rpc(`${base}/v1/mcp`, "tools/call", { name: "ask", arguments: args }));
    };
    const { sessionId } = await ask({ message: "first" });
    const reports = await Promise.all(["one", "two", "three"].map((message) => ask({ message, sessionId })));
    for (const [index, report] of reports.entries()) {
      expect(["finished", "cancelled"]).toContain(report.status);
      if (report.status === "finished") expect(report.result).toContain(["one", "two", "three"][index]);
    }
    expect(reports.filter(({ status }) => status === "finished").length).toBeGreaterThanOrEqual(1);
  });

  it("tells of the turn that a message began, not of one that the same words began before", async () => {
    const { base } = await startHost(makeBundle([createTester().parts]));
    const url = `${base}/v1/mcp`;
    const message = '/add {"a":1}';
    const first = await rpc(url, "tools/call", { name: "ask", arguments: { message } });
    const { sessionId } = reportIn(first);
    const again = { name: "ask", arguments: { message, sessionId }, _meta: { progressToken: "p" } };
    const { text, headers } = await rpc(url, "tools/call", again);
    expect(headers.get("content-type")).toBe("text/event-stream");
    expect(headers.get("x-accel-buffering")).toBe("no");
    expect(text.match(/"message":"calling add"/g)).toHaveLength(1);
    const data = text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []));
    const progress = data.flatMap((each) => (each.method === "notifications/progress" ? [each.params.progress] : []));
    expect(progress).toEqual(progress.map((_, index) => index + 1));
    expect(data.at(-1)).toMatchObject({ id: 7, result: { structuredContent: { status: "finished", sessionId } } });
  });

  it("answers with the request's id while it closes, and ends a wait with where things stand", async () => {
    const tester = createTester();
    const host = await startHost(makeBundle([tester.parts]));
    const url = `${host.base}/v1/mcp`;
    const asked = rpc(url, "tools/call", { name: "ask", arguments: { message: "/wait {}" } });
    await tester.begun.opened;
    const closing = host.close();
    tester.gate.open();
    await closing;
    const { status, body } = await asked;
    expect([status, body.id]).toEqual([200, 7]);
    expect(["running", "finished"]).toContain(reportIn({ body }).status);
  });

  it("refuses arguments of ask and check that make no sense", async () => {
    const { base } = await startHost(makeBundle([createTester().parts]));
    const url = `${base}/v1/mcp`;
    const cases: readonly (readonly [string, unknown, string])[] = [
      ["ask", {}, "invalid_input"],
      ["ask", { message: "   " }, "invalid_input"],
      ["ask", { message: 5 }, "invalid_input"],
      ["ask", { message: "x", waitSeconds: -1 }, "invalid_input"],
      ["ask", { message: "x", waitSeconds: "long" }, "invalid_input"],
      ["ask", { message: "x", sessionId: "../../etc" }, "not_found"],
      ["check", {}, "invalid_input"],
      ["check", { sessionId: "ses_none" }, "not_found"],
      ["call_tool", { toolName: 5 }, "invalid_input"],
    ];
    for (const [name, args, code] of cases) {
      const { status, body } = await rpc(url, "tools/call", { name, arguments: args });
      const [content] = (body.result?.content ?? []) as { text: string }[];
      expect([status, body.result?.isError, JSON.parse(content?.text ?? "{}").error]).toEqual([200, true, code]);
    }
  });

  it("waits any part of a second", async () => {
    const { base } = await startHost(makeBundle([createTester().parts]));
    for (const waitSeconds of [0, 1e-300, 0.0015, 0.0005, 12.3456789, 1e300]) {
      const params = { name: "ask", arguments: { message: "hi", waitSeconds } };
      const { body } = await rpc(`${base}/v1/mcp`, "tools/call", params);
      expect([waitSeconds, reportIn({ body }).status]).toEqual([
        waitSeconds,
        expect.stringMatching(waitSeconds > 1 ? /^finished$/ : /^(?:running|finished)$/),
      ]);
    }
  });

  it("tells a failed turn as one", async () => {
    const host = await startHost(makeBundle([createTester({ model: "openai/none" }).parts]));
    const asked = await rpc(`${host.base}/v1/mcp`, "tools/call", { name: "ask", arguments: { message: "hi" } });
    expect(asked.body.result).toMatchObject({ isError: true, structuredContent: { status: "error" } });
  });
});

describe("headers", () => {
  it("decodes the values of the specification", () => {
    const file = resolve("../shared/vectors/mcp/header-value-encoding-2026-07-28.json");
    const { vectors } = JSON.parse(readFileSync(file, "utf8")) as { vectors: [string, string][] };
    for (const [value, header] of vectors) expect(decodeHeaderValue(header)).toBe(value);
    for (const bad of ["=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?=", "=?base64?/w==?=", "h\u00e9llo"]) {
      expect(decodeHeaderValue(bad)).toBeUndefined();
    }
  });

  it("wants marked arguments as headers, nested ones too, and nothing that is not there", async () => {
    const route = defineTool({
      description: "Routes.",
      inputSchema: z.object({
        region: z.string().optional().meta({ "x-mcp-header": "Region" }),
        shard: z.object({ number: z.number().int().meta({ "x-mcp-header": "Shard" }) }).optional(),
        dry: z.boolean().optional().meta({ "x-mcp-header": "Dry" }),
        odd: z.string().optional().meta({ "x-mcp-header": "not a token" }),
      }),
      execute: () => "routed",
    });
    const { base } = await startHost(makeBundle([createTester({ tools: { route } }).parts]));
    const statusOf = async (args: unknown, headers: Record<string, string>) =>
      (await stateless(`${base}/v1/mcp/tools`, "tools/call", { name: "route", arguments: args }, headers)).status;
    expect(await statusOf({}, {})).toBe(200);
    expect(await statusOf({ region: "Hello, 世界" }, { "mcp-param-region": "=?base64?SGVsbG8sIOS4lueVjA==?=" })).toBe(
      200,
    );
    expect(await statusOf({ region: "eu" }, {})).toBe(400);
    expect(await statusOf({ region: "eu" }, { "mcp-param-region": "us" })).toBe(400);
    expect(await statusOf({}, { "mcp-param-region": "us" })).toBe(400);
    expect(await statusOf({ shard: { number: 42 } }, { "mcp-param-shard": "42.0" })).toBe(200);
    expect(await statusOf({ shard: { number: 42 } }, { "mcp-param-shard": "43" })).toBe(400);
    expect(await statusOf({ dry: true }, { "mcp-param-dry": "true" })).toBe(200);
    expect(await statusOf({ dry: true }, { "mcp-param-dry": "True" })).toBe(400);
    expect(await statusOf({ odd: "x" }, {})).toBe(200);
  });

  it("lists tools without marks that the protocol does not allow, for which clients would leave the whole tool out", async () => {
    const marked = defineTool({
      description: "Marked oddly.",
      inputSchema: {
        type: "object",
        properties: {
          good: { type: "string", "x-mcp-header": "Good" },
          "x-mcp-header": { type: "string" },
          empty: { type: "string", "x-mcp-header": "" },
          one: { type: "string", "x-mcp-header": "Twice" },
          two: { type: "string", "x-mcp-header": "twice" },
          number: { type: "number", "x-mcp-header": "Number" },
          list: { type: "array", items: { type: "string", "x-mcp-header": "Item" } },
          either: { anyOf: [{ type: "string", "x-mcp-header": "Either" }, { type: "null" }] },
          data: { const: { "x-mcp-header": "stays" } },
        },
      },
      execute: () => "called",
    });
    const { base } = await startHost(makeBundle([createTester({ tools: { marked } }).parts]));
    const url = `${base}/v1/mcp/tools`;
    const client = await generations["@modelcontextprotocol/client, stateless"](url);
    const listed = (await client.list()).find(({ name }) => name === "marked");
    expect(listed?.inputSchema).toEqual({
      type: "object",
      properties: {
        good: { type: "string", "x-mcp-header": "Good" },
        "x-mcp-header": { type: "string" },
        empty: { type: "string" },
        one: { type: "string" },
        two: { type: "string" },
        number: { type: "number" },
        list: { type: "array", items: { type: "string" } },
        either: { anyOf: [{ type: "string" }, { type: "null" }] },
        data: { const: { "x-mcp-header": "stays" } },
      },
    });
    expect(await client.call("marked", { good: "g", one: "1" })).toMatchObject({ content: [{ text: "called" }] });
    await client.close();
  });
});
