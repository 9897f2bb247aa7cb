/** `bdk slack manifest`: the app that a project's Slack channel needs. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { bdk, copyProject, linkModules, temporaryFolder } from "./bdk.js";
import { writeProject } from "./dev-project.js";

interface App {
  readonly display_information: { readonly name: string; readonly description: string };
  readonly features: { readonly assistant_view: Readonly<Record<string, unknown>> };
  readonly oauth_config: { readonly scopes: { readonly bot: readonly string[] } };
  readonly settings: {
    readonly socket_mode_enabled: boolean;
    readonly event_subscriptions: { readonly request_url?: string; readonly bot_events: readonly string[] };
    readonly interactivity: { readonly is_enabled: boolean; readonly request_url?: string };
  };
}

/** A project whose Slack channel has these options. */
const filesOf = (options: string) => ({
  "package.json": '{ "name": "helper", "type": "module" }\n',
  "bot/instructions.md": "You help.\n",
  "bot/channels/slack.ts": `import { slackChannel } from "@cursor/bdk/channels/slack";\n\nexport default slackChannel(${options});\n`,
});

async function project(slack: string): Promise<string> {
  const dir = await temporaryFolder();
  await writeProject(dir, filesOf(slack));
  await linkModules(dir);
  return dir;
}

const read = async (dir: string, ...flags: string[]) => {
  const { code, stdout, stderr } = await bdk(["slack", "manifest", "--dir", dir, "--json", ...flags]);
  expect(code).toBe(0);
  return { app: JSON.parse(stdout) as App, stderr };
};

describe("bdk slack manifest", () => {
  test("YAML on stdout is the same as --json; what to do next is on stderr, with the prefix", async () => {
    const dir = await copyProject("oncall");
    const { app, stderr } = await read(dir);
    const yaml = await bdk(["slack", "manifest"], { cwd: dir });
    expect([yaml.code, parse(yaml.stdout)]).toEqual([0, app]);
    expect(stderr).toContain("ONCALL_SLACK_BOT_TOKEN");
    expect(stderr).toContain("ONCALL_SLACK_APP_TOKEN");
    expect(stderr).not.toContain("SIGNING_SECRET");
    expect(app.display_information.name).toBe("oncall");
    expect(app.features.assistant_view.suggested_prompts).toHaveLength(2);
    expect(app.settings.socket_mode_enabled).toBe(true);
    expect(app.settings.event_subscriptions).toEqual({
      bot_events: ["app_mention", "assistant_thread_started", "message.channels", "message.groups", "message.im"],
    });
    expect(app.oauth_config.scopes.bot).toContain("channels:read");
  });

  test("a bot that only answers asks for no channel's posts", async () => {
    const { app } = await read(await project("{}"));
    expect(app.settings.event_subscriptions.bot_events).toEqual([
      "app_mention",
      "assistant_thread_started",
      "message.im",
    ]);
    expect(app.oauth_config.scopes.bot).toEqual([
      "app_mentions:read",
      "assistant:write",
      "channels:history",
      "chat:write",
      "groups:history",
      "im:history",
      "mpim:history",
    ]);
    expect(app.features.assistant_view.suggested_prompts).toBeUndefined();
  });

  test("with an address Slack calls it, for events and for buttons, and no socket is opened", async () => {
    const dir = await project("{}");
    const whole = "https://bots.example.com/helper/v1/channels/slack/events";
    for (const url of ["https://bots.example.com/helper", "https://bots.example.com/helper/", whole]) {
      const { app, stderr } = await read(dir, "--request-url", url);
      expect(app.settings).toMatchObject({
        socket_mode_enabled: false,
        event_subscriptions: { request_url: whole },
        interactivity: { is_enabled: true, request_url: whole },
      });
      expect(stderr).toContain("SLACK_SIGNING_SECRET");
    }
    const plain = await bdk(["slack", "manifest", "--dir", dir, "--request-url", "http://localhost:3000"]);
    expect([plain.code, plain.stdout]).toEqual([2, ""]);
    expect(plain.stderr).toContain("https addresses only");
  });

  test("options that come from the environment leave the manifest whole, and show nothing of it", async () => {
    const dir = await project(`{
  suggestedPrompts: [{ title: "T", message: process.env.PROMPT ?? "what is new?" }],
  engagement: { channelPosts: { allow: [process.env.ALERTS_CHANNEL ?? "#alerts"] } },
}`);
    const { stdout, code } = await bdk(["slack", "manifest", "--dir", dir, "--json"], {
      env: { PROMPT: "s3cret prompt" },
    });
    expect(code).toBe(0);
    expect(stdout).not.toContain("s3cret");
    expect((JSON.parse(stdout) as App).settings.event_subscriptions.bot_events).toContain("message.channels");
  });

  test("which channel is meant, where there are several; none at all; another word", async () => {
    const dir = await project('{ envPrefix: "A" }');
    await writeFile(
      join(dir, "bot/channels/triage.ts"),
      'import { slackChannel } from "@cursor/bdk/channels/slack";\nexport default slackChannel({ envPrefix: "TRIAGE" });\n',
    );
    const both = await bdk(["slack", "manifest", "--dir", dir]);
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("--channel triage")]);
    for (const flags of [
      ["--channel", "triage"],
      ["--prefix", "TRIAGE"],
    ]) {
      const { stderr } = await read(dir, ...flags);
      expect(stderr).toContain("TRIAGE_SLACK_BOT_TOKEN");
    }
    const none = await bdk(["slack", "manifest", "--dir", await copyProject("pr-approver")]);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("slackChannel()")]);
    const word = await bdk(["slack", "doctor", "--dir", dir]);
    expect([word.code, word.stderr]).toEqual([2, expect.stringContaining("there is bdk slack manifest")]);
  });
});

test("wrong options of slackChannel are told, each at its place", async () => {
  const cases = [
    ['{ reply: { mode: "whisper" } }', "reply.mode"],
    ["{ replies: {} }", "replies"],
    ['{ engagement: { channelPosts: { allow: "#alerts" } } }', "engagement.channelPosts.allow"],
    ['{ continuation: "slack.thread" }', "slack.dmthread/v2"],
    ["{ suggestedPrompts: Array(5).fill({ title: 'a', message: 'b' }) }", "four at most"],
    ["{ onAppMention: 7 }", "onAppMention"],
    ["{ onChannelPost: () => null }", "never called"],
  ] as const;
  const dir = await temporaryFolder();
  await linkModules(dir);
  for (const [at, [options]] of cases.entries()) await writeProject(join(dir, `bot${at}`), filesOf(options));
  const { code, stdout } = await bdk(["validate", "--dir", dir, "--json"]);
  expect(code).toBe(1);
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: readonly { file: string; line: number }[] };
  for (const [at, [options, told]] of cases.entries()) {
    const found = diagnostics.filter(({ file }) => file === `bot${at}/bot/channels/slack.ts`);
    expect(found, options).toMatchObject([{ severity: "error", line: 3 }]);
    expect(JSON.stringify(found), options).toContain(told);
  }
});
