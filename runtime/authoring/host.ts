/** The services that authored code finds on `ctx.host`, and what it is told about the session it runs in. */
import type { JsonObject, JsonValue, SessionMode, SessionPurpose } from "../session/event.js";
import type { ReminderDefinition, ReminderHandler } from "./reminders.js";

/** Who a session belongs to, as the auth policy of its channel admitted them. */
export interface SessionAuth {
  /** `loopback`, `bearer`, `anonymous`, `channel`, `app`, or the kind a custom policy returned. */
  readonly kind: string;
  /** Stable within the kind. */
  readonly id: string;
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** Read-only facts about the session. */
export interface SessionInfo {
  /** `ses_…`; for a tool call outside any session, the id of that call. */
  readonly id: string;
  /** `http` for the built-in API, else the name of the channel. */
  readonly channelId?: string;
  readonly mode: SessionMode;
  /** `eval` marks regression traffic: don't meter it, don't page anyone. */
  readonly purpose?: SessionPurpose;
  /** True when write tools are stubbed. */
  readonly dryRun?: boolean;
  /** The channel's own key of the conversation, without the `<channelId>:` in front. */
  readonly continuationKey?: string;
  readonly auth: SessionAuth;
  readonly title?: string;
  /** Id of the underlying agent, on the Cursor SDK harness only. */
  readonly sdkAgentId?: string;
}

/** Durable JSON, shared by every session of the agent. Prefix keys with `ctx.session.id` for per-session state. */
export interface HostKvApi {
  /** The value last put, or `undefined`. */
  get(key: string): Promise<JsonValue | undefined>;
  /** Stores anything that survives `JSON.stringify`; throws when the value doesn't. */
  put(key: string, value: unknown): Promise<void>;
  /** Removes the key; a missing one is fine. */
  delete(key: string): Promise<void>;
}

/** Which files are meant: those of this session (the default), or those the whole agent shares. */
export interface FileScope {
  readonly scope?: "session" | "deployment";
}

/** Durable files. Paths are relative, `/`-separated, and can't leave the scope. */
export interface HostFilesApi {
  /** Creates or replaces a file. */
  write(path: string, contents: Uint8Array | string, options?: FileScope): Promise<void>;
  /** Adds to the end of a file, creating it first. Simultaneous appends never tear each other. */
  append(path: string, contents: Uint8Array | string, options?: FileScope): Promise<void>;
  /** The bytes, or `undefined` when there is no such file. */
  read(path: string, options?: FileScope): Promise<Uint8Array | undefined>;
  /** Paths that start with `prefix`, sorted; all of them by default. */
  list(prefix?: string, options?: FileScope): Promise<readonly string[]>;
  /** Removes a file; a missing one is fine. */
  delete(path: string, options?: FileScope): Promise<void>;
}

/** Attributes of a measurement. */
export type OtelTags = Readonly<Record<string, string | number | boolean>>;

/** Counters, histograms and tags, attributed to the session. Never throws and never waits. */
export interface HostOtelApi {
  /**
   * Adds to a counter; by 1 unless a number is given.
   *
   * @example ctx.host.otel.increment("acme.turn.failed", { channel: ctx.channel.id });
   */
  increment(name: string, tags?: OtelTags): void;
  increment(name: string, value: number, tags?: OtelTags): void;
  /** Records one measurement of a distribution. */
  histogram(name: string, value: number, tags?: OtelTags): void;
  /** Sets an attribute on the session's telemetry from here on. */
  tag(name: string, value: string | number | boolean): void;
}

/** A piece of an MCP tool's answer. */
export interface HostMcpContent {
  readonly type: string;
  readonly text?: string;
  /** Base64, for images and audio. */
  readonly data?: string;
  readonly mimeType?: string;
  readonly [key: string]: unknown;
}

/** What an MCP tool answered. */
export interface HostMcpCallResult {
  readonly content: readonly HostMcpContent[];
  readonly structuredContent?: JsonObject;
  readonly isError?: boolean;
}

/** A tool that an MCP server offers. */
export interface HostMcpTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** The MCP servers of `mcp-connections/` and `host-connections/`. */
export interface HostMcpApi {
  /** Names of the connections, sorted. */
  names(): readonly string[];
  listTools(server: string, options?: { readonly signal?: AbortSignal }): Promise<readonly HostMcpTool[]>;
  /** Calls a tool. A tool's own failure is `isError`; an unreachable server throws. */
  callTool(
    server: string,
    tool: string,
    args?: Readonly<Record<string, unknown>>,
    options?: { readonly signal?: AbortSignal; readonly timeoutMs?: number },
  ): Promise<HostMcpCallResult>;
}

/** An answer of GitHub's API. */
export interface OctokitResponse<T = unknown> {
  readonly status: number;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | number | undefined>>;
  readonly data: T;
}

/** The part of an Octokit that works without its types; pass your own `Octokit` to `getOctokit` for the rest. */
export interface OctokitLike {
  request(route: string, parameters?: Readonly<Record<string, unknown>>): Promise<OctokitResponse>;
  graphql(query: string, variables?: Readonly<Record<string, unknown>>): Promise<unknown>;
  readonly rest: Readonly<
    Record<
      string,
      Readonly<Record<string, (parameters?: Readonly<Record<string, unknown>>) => Promise<OctokitResponse>>>
    >
  >;
}

/** GitHub, with the credentials of the host. */
export interface HostGithubApi {
  /**
   * An authenticated client. With a GitHub App's credentials it acts for one installation: that of the session's own
   * repository, else that of `repository` (`owner/name`), else the app's only one.
   *
   * @example const octokit = await ctx.host.github.getOctokit<Octokit>();
   * @throws when no token and no app credentials are set; the message names the variables.
   */
  getOctokit<Client = OctokitLike>(options?: { readonly repository?: string }): Promise<Client>;
}

/** The part of Slack's WebClient that works without its types; pass your own `WebClient` for the rest. */
export interface SlackClientLike {
  apiCall(method: string, options?: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>;
}

/** Slack, with the credentials of the host. */
export interface HostSlackApi {
  /** A client for the bot token. Throws when none is set; the message names the variable. */
  getClient<Client = SlackClientLike>(): Promise<Client>;
}

interface ReminderTarget {
  /** What it is for, such as `ci_recheck`; shown in listings and logs. */
  readonly purpose: string;
  /** Channel of the conversation. Left out inside a session: that session's channel. */
  readonly channelId?: string;
  /** Key of the conversation. Left out inside a session: that session's key. */
  readonly continuationToken?: string;
  /** A standing condition, told to the model with the prompt, under which it should cancel the reminder. */
  readonly until?: string;
}

/** When a reminder fires: once after `delay` or `at` an instant; again and again `every` so often, or by `cron` (UTC). */
export type ReminderTiming =
  | { readonly delay: string | number; readonly at?: never; readonly every?: never; readonly cron?: never }
  | { readonly at: string | Date; readonly delay?: never; readonly every?: never; readonly cron?: never }
  | { readonly every: string | number; readonly delay?: never; readonly at?: never; readonly cron?: never }
  | { readonly cron: string; readonly delay?: never; readonly at?: never; readonly every?: never };

/** What happens then: wake the conversation with a prompt, or run host code. */
export type ReminderAction =
  | { readonly prompt: string; readonly handler?: never; readonly run?: never; readonly args?: never }
  | {
      /** The default export of a file in `reminders/`, or its name. */
      readonly handler: ReminderDefinition | string;
      readonly args?: JsonObject;
      readonly prompt?: never;
      readonly run?: never;
    }
  | {
      /** Anonymous handler: gone after a restart, until it is armed again. Prefer a named one. */
      readonly run: ReminderHandler;
      readonly args?: JsonObject;
      readonly prompt?: never;
      readonly handler?: never;
    };

/** Everything that `createReminder` takes. Durations are `"90s"`, `"2h"`, `"3d"` or milliseconds. */
export type ReminderCreate = ReminderTarget & ReminderTiming & ReminderAction;

/** A reminder as it stands. */
export interface ReminderInfo {
  readonly id: string;
  readonly purpose: string;
  readonly channelId: string;
  readonly sessionId: string;
  /** ISO-8601 instant of the next firing. */
  readonly nextAt: string;
  readonly recurring: boolean;
  /** Name of the handler; absent for prompts and anonymous ones. */
  readonly handler?: string;
  readonly prompt?: string;
  readonly until?: string;
}

/** Durable wakes, bound to one conversation each. */
export interface HostRemindersApi {
  create(reminder: ReminderCreate): Promise<ReminderInfo>;
  /** Those of this session; of the whole agent outside a session. */
  list(): Promise<readonly ReminderInfo[]>;
  /** Of the same as `list`. False when there was none of that id. */
  cancel(id: string): Promise<boolean>;
}

/** Shared services of the host. */
export interface HostServices {
  readonly kv: HostKvApi;
  readonly files: HostFilesApi;
  readonly otel: HostOtelApi;
  readonly mcp: HostMcpApi;
  readonly github: HostGithubApi;
  readonly slack: HostSlackApi;
  readonly reminders: HostRemindersApi;
}
