/** Every slot's helper, used the ways the reference pages and real projects use it. Most of it is for tsc to check. */
import {
  type AgentConfig,
  defineAgent,
  defineInstructions,
  type JsonValue,
  type ModelSetting,
  prompt,
} from "@cursor/bdk";
import { defineArtifacts } from "@cursor/bdk/artifacts";
import {
  allowAll,
  bearerAuth,
  type ChannelDefinition,
  defineChannel,
  GET,
  hmacAuth,
  localDevStrict,
  POST,
} from "@cursor/bdk/channels";
import {
  defaultGitHubAuth,
  formatGitHubPrContinuationKey,
  githubChannel,
  parseGitHubPrContinuationKey,
} from "@cursor/bdk/channels/github";
import { defaultSlackAuth, type SlackMessageHandler, slackChannel } from "@cursor/bdk/channels/slack";
import { defineConnection } from "@cursor/bdk/connections";
import { defineEval, defineEvalConfig, includes, judge, matches, satisfies } from "@cursor/bdk/evals";
import { cursorPlugin, defineExtension, disable, disableTool } from "@cursor/bdk/extensions";
import { memoryHook } from "@cursor/bdk/memory";
import { defineOtel } from "@cursor/bdk/otel";
import { defineReminder } from "@cursor/bdk/reminders";
import { defineResult } from "@cursor/bdk/result";
import { defineSchedule } from "@cursor/bdk/schedules";
import { defineSkill } from "@cursor/bdk/skills";
import { defineStorage } from "@cursor/bdk/storage";
import { fileKv } from "@cursor/bdk/storage/file-kv";
import { postgres } from "@cursor/bdk/storage/postgres";
import { defineTool } from "@cursor/bdk/tools";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { z as z3 } from "zod/v3";

describe("agent and instructions", () => {
  it("takes every form of the model", () => {
    const withParams: ModelSetting = { id: "grok-4.5", params: [{ id: "effort", value: "high" }] };
    expect(defineAgent({ model: withParams }).model).toBe(withParams);
    defineAgent({ model: "openai/gpt-5", tools: ["read", "grep", "a-tool-of-tomorrow"] });
    defineAgent({ model: process.env.BOT_MODEL });
    defineAgent({});
    const legacy: AgentConfig = { runtime: "local", architecture: "v2", cloud: { repos: [{ url: "https://x.test" }] } };
    expect(defineAgent(legacy).__agentServe).toBe("agent");
    // @ts-expect-error values of parameters are strings
    defineAgent({ model: { id: "grok-4.5", params: [{ id: "fast", value: true }] } });
    // @ts-expect-error an unknown key
    defineAgent({ modle: "grok-4.5" });
  });

  it("takes instructions and skills", () => {
    expect(defineInstructions({ markdown: prompt`Help ${process.env.TEAM_NAME}.` }).__agentServe).toBe("instructions");
    expect(defineSkill({ description: "d", markdown: "m", files: { "a/b.txt": "text" } }).__agentServe).toBe("skill");
  });
});

describe("channels", () => {
  const token: string | undefined = process.env.FABRIC_TOKEN;
  const drive = defineChannel({
    auth: [localDevStrict(), ...(token ? [bearerAuth(token)] : []), async () => null],
    routes: [
      GET("/.well-known/agent-card.json", {
        description: "Card",
        querySchema: z.object({}),
        handler: async (request) => Response.json({ url: request.url }),
      }),
      POST("/", {
        bodySchema: z3.object({ prUrl: z3.string(), wait: z3.boolean().default(false) }),
        querySchema: z.object({ dry: z.stringbool().default(false) }),
        async handler(request, { body, query, send, getSession, host, waitUntil, params }) {
          expectTypeOf(body).toEqualTypeOf<{ prUrl: string; wait: boolean }>();
          expectTypeOf(query.dry).toEqualTypeOf<boolean>();
          expectTypeOf(params).toEqualTypeOf<Readonly<Record<string, string>>>();
          const session = await send(`Look at ${body.prUrl}`, {
            continuationToken: `pr:${body.prUrl}`,
            title: "PR",
            admission: "coalesce",
          });
          waitUntil(host.kv.put(session.id, { at: request.url }));
          if (!body.wait) return Response.json({ id: session.id }, { status: 202 });
          const done = await (await getSession(session.id))?.waitForCompletion();
          return Response.json({ status: done?.status, result: done?.result, error: done?.errorMessage });
        },
      }),
      POST("/raw", { bodySchema: z.unknown(), handler: (_request, { body }) => Response.json(body) }),
    ],
    events: {
      async "message.completed"(event, ctx) {
        if (event.data.finishReason === "stop") await ctx.channel.setState({ last: event.data.text });
      },
    },
    onStart: ({ artifacts }) => artifacts.list(),
  });

  it("types bodies, queries and events", () => {
    expect(drive.routes.map((route) => `${route.method} ${route.path}`)).toEqual([
      "GET /.well-known/agent-card.json",
      "POST /",
      "POST /raw",
    ]);
    expect(allowAll().scheme).toBe("allow-all");
    expect(hmacAuth({ secret: "s", header: "x-sig" }).scheme).toBe("hmac");
  });

  it("mounts the packs", () => {
    const dispatch: SlackMessageHandler = async (ctx, message) => {
      if (message.author?.isBot === true) return null;
      await ctx.thread.post("On it.");
      return { auth: defaultSlackAuth(message, ctx), title: message.body.slice(0, 80), context: ["Be brief."] };
    };
    const slack = slackChannel({ envPrefix: "TRIAGE", onAppMention: dispatch, reply: { mode: "stream" } });
    expect(slack.pack).toBe("slack");
    const github = githubChannel({
      botName: "helper",
      webhookEvents: ["pull_request"],
      onPullRequest: (ctx, pr) =>
        pr.draft
          ? null
          : { auth: defaultGitHubAuth(ctx), title: `PR ${pr.number}`, context: prompt.lines`Look at ${pr.url}.` },
    });
    expect(github.pack).toBe("github");
    const asPlain: ChannelDefinition<JsonValue> = slack as ChannelDefinition<JsonValue>;
    expect(asPlain.routes).toEqual([]);
  });

  it("reads and writes the keys of pull requests", () => {
    const key = { owner: "acme", repo: "check.out", number: 42 };
    expect(parseGitHubPrContinuationKey(formatGitHubPrContinuationKey(key))).toEqual(key);
    for (const wrong of [undefined, "", "pr:acme#1", "pr:acme/x#0", "pr:a/b/c#1", "issue:acme/x#1"]) {
      expect(parseGitHubPrContinuationKey(wrong)).toBeUndefined();
    }
  });

  it("gets into schedules and reminders", () => {
    const schedule = defineSchedule({
      cron: "*/30 * * * *",
      async run({ receive, waitUntil, appAuth, host, callTool }) {
        waitUntil(receive(drive, { message: "Anything new?", auth: appAuth }));
        const { isError, result } = await callTool("count", { since: "yesterday" });
        if (!isError) await host.kv.put("count", result);
      },
    });
    expect(schedule.__agentServe).toBe("schedule");
    defineSchedule({ cron: "0 9 * * 1-5", markdown: "Summarize." });
    // @ts-expect-error neither markdown nor run
    defineSchedule({ cron: "0 9 * * 1-5" });
    // @ts-expect-error both
    defineSchedule({ cron: "0 9 * * 1-5", markdown: "x", run: () => {} });
  });
});

describe("reminders", () => {
  const recheck = defineReminder({
    async run({ args, followup }) {
      await followup({ message: `Look again at ${String(args.prUrl)}.` });
      return { action: "delivered" };
    },
  });

  it("is created from tools", () => {
    const tool = defineTool({
      description: "Arms a reminder.",
      async execute(_input, ctx) {
        const target = { purpose: "ci_recheck", channelId: "drive", continuationToken: "pr:acme/checkout#42" };
        await ctx.host.reminders.create({ ...target, delay: "2h", prompt: "Look again.", until: "CI is green." });
        await ctx.host.reminders.create({
          ...target,
          every: "30m",
          handler: recheck,
          args: { prUrl: "https://x.test" },
        });
        // @ts-expect-error when?
        await ctx.host.reminders.create({ ...target, prompt: "Look again." });
        // @ts-expect-error a prompt or a handler, not both
        await ctx.host.reminders.create({ ...target, delay: 1000, prompt: "Look again.", handler: recheck });
        return ctx.host.reminders.list();
      },
    });
    expect(tool.__agentServe).toBe("tool");
    expect(recheck.__agentServe).toBe("reminder");
  });
});

describe("connections", () => {
  it("takes all three forms", () => {
    const { LINEAR } = process.env;
    defineConnection({
      url: "https://mcp.test/mcp",
      headers: LINEAR ? { Authorization: "Bearer ${LINEAR}" } : undefined,
    });
    defineConnection({ url: "https://mcp.test/mcp", oauth: true, advertiseTools: true, tools: { allow: ["search"] } });
    defineConnection({ command: "npx", args: ["-y", "server"], env: { TOKEN: "${TOKEN}" } });
    expect(defineConnection({ agent: "peer", description: "A peer." }).__agentServe).toBe("connection");
    // @ts-expect-error one transport only
    defineConnection({ url: "https://mcp.test", command: "npx" });
  });
});

describe("extensions", () => {
  const ci = defineExtension({
    root: "/packages/ci",
    description: "CI",
    config: z.object({ org: z.string(), token: z.string(), tail: z.number().int().positive().default(200) }),
  });

  it("checks settings when mounted, and gives them with defaults", () => {
    expect(() => ci.config).toThrow("no settings yet");
    // @ts-expect-error a setting is missing
    expect(() => ci({ org: "acme" })).toThrow("wrong settings: token: ");
    const mount = ci({ org: "acme", token: "t" });
    expect(mount.__agentServe).toBe("extension");
    expect(ci.config).toEqual({ org: "acme", token: "t", tail: 200 });
    expectTypeOf(ci.config.tail).toEqualTypeOf<number>();
  });

  it("needs no settings", () => {
    const plain = defineExtension({ root: "/packages/plain", description: "Plain" });
    expect(plain().root).toBe("/packages/plain");
    expect(plain.__agentServe).toBe("extension");
  });

  it("mounts plugins and removes contributions", () => {
    const plugin = cursorPlugin({ path: "plugins/notion", variables: { TOKEN: process.env.NOTION_TOKEN } });
    expect(plugin.plugin.path).toBe("plugins/notion");
    expect([disable(), disableTool()]).toEqual([
      { __agentServe: "disable" },
      { __agentServe: "disable", kind: "tool" },
    ]);
  });
});

describe("the single-file slots", () => {
  it("takes artifacts, results, storage and telemetry", () => {
    defineArtifacts({
      kinds: { report: { description: "A report.", schema: z.object({ week: z.number() }) } },
      agentTool: true,
      max: 50,
    });
    defineResult({
      commit(text, ctx) {
        if (text === "") ctx.reject("Say something.");
        return { length: text.length };
      },
    });
    const policy = { debounceMs: 500, restore: { maxSessions: 10, maxAgeMs: 86_400_000 } };
    expect(defineStorage({ name: "files", policy, ...fileKv() })).toMatchObject({
      __agentServe: "storage",
      backend: { type: "file" },
    });
    expect(defineStorage({ ...postgres({ url: "${DATABASE_URL}" }) }).backend).toEqual({
      type: "postgres",
      url: "${DATABASE_URL}",
      schema: "bdk",
    });
    expect(defineOtel(({ agent }) => ({ serviceName: agent.name })).__agentServe).toBe("otel");
    expect(memoryHook().__agentServe).toBe("hook");
  });
});

describe("evals", () => {
  it("takes a test or cases", () => {
    defineEval({
      tags: ["smoke"],
      async test(t) {
        await t.send("Is it ready?", { workspaceFiles: { "a.txt": "a" } });
        t.succeeded();
        t.calledTool("inspect_pr", { input: { prUrl: "https://x.test/1" } });
        t.notCalledTool("approve_pr");
        t.check(t.reply, includes(/draft/i));
        t.check(
          t.event("actions.requested").length,
          satisfies<number>((count) => count > 0, "asks for a tool"),
        );
        t.check(t.reply, matches(z.object({ verdict: z.string() })));
        t.check(t.reply, judge("Is polite."));
      },
    });
    defineEval({ cases: [{ id: "a", test: (t) => t.send("hi") }], iterations: 3, timeoutMs: 5000 });
    expect(defineEvalConfig({ maxConcurrency: 20 })).toEqual({ maxConcurrency: 20, __agentServe: "eval-config" });
    // @ts-expect-error neither test nor cases
    defineEval({ tags: [] });
  });
});
