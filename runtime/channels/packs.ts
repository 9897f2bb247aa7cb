/**
 * The seam between channels and packs. `githubChannel(…)`, `slackChannel(…)` and `webhookChannel(…)` are descriptors; a
 * section of the runtime turns each into a way in, events and `onStart`.
 *
 * A section `github` or `slack` exports `openPack` and `openClient`; `webhook` only `openPack`.
 */
import type { ArtifactsApi } from "../authoring/artifacts.js";
import type { ChannelConfig, ChannelSession, ReceiveOptions, SendOptions } from "../authoring/channels.js";
import type { HostKvApi, HostServices, SessionAuth } from "../authoring/host.js";
import type { Sections } from "../host/sections.js";
import type { AgentGeneration } from "../manifest/bundle.js";
import { packFacts } from "../manifest/packs.js";
import type { JsonValue } from "../session/event.js";
import type { Log, SessionRecord } from "../session/ports.js";
import type { PendingApproval } from "../session/service.js";
import type { ChannelRequest, RunningChannel } from "./contract.js";

/** Variables of the process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What came from outside, kept until it is done with. */
export interface InboxDelivery {
  /** The sender's own id of it, the same when it is sent again. */
  readonly id: string;
  readonly payload: JsonValue;
  /** ISO-8601 instant at which it was taken. */
  readonly at: string;
  /** An earlier process took it and may have handled it in part. */
  readonly isRepeat: boolean;
  /** An earlier process began on what must not be done twice. */
  readonly hasBegun: boolean;
  /** Notes that such work begins: on disk when it resolves. */
  begin(): Promise<void>;
}

/** As a route's `send`, and once for each key. */
export interface PackSendOptions extends SendOptions {
  /** A second message with this key is not sent; the first one's session is returned. Held for 24 h. */
  readonly idempotencyKey?: string;
  /** Write tools are stubbed; for a session that is new. */
  readonly dryRun?: boolean;
}

/** What a pack is given: one for each channel and generation of the code. */
export interface PackHost {
  /** Name of the channel: its file's. */
  readonly id: string;
  /** What the project wrote; `options` are the pack's own. */
  readonly definition: RunningChannel["definition"] & { readonly options?: unknown };
  readonly environment: Environment;
  /** `ctx.host` for work outside any session. */
  readonly services: HostServices;
  readonly artifacts: ArtifactsApi;
  /** Durable JSON of this channel, which authored code does not see. */
  readonly kv: HostKvApi;
  readonly log: Log;
  /** Aborts when newer code takes over or the server shuts down. */
  readonly signal: AbortSignal;
  /** Aborts when the server shuts down. */
  readonly closing: AbortSignal;
  /**
   * Takes a delivery: on disk when it resolves, so that the sender may be told. It is then handed to the pack's
   * `deliver`, in the background; those of one lane one after another. False when its id was taken before.
   */
  accept(id: string, payload: JsonValue, lane?: string): Promise<boolean>;
  send(auth: SessionAuth, message: string, options?: PackSendOptions): Promise<ChannelSession>;
  /** The session of a conversation's key. */
  findSession(key: string): string | undefined;
  /** Interrupts the running turn; false when there is none. */
  stop(sessionId: string): Promise<boolean>;
  approvals(sessionId: string): Promise<readonly PendingApproval[]>;
  /** Settles a parked call; throws `RuntimeError` `approval_resolved` when somebody else did. */
  resolveApproval(
    sessionId: string,
    callId: string,
    decision: "approve" | "deny",
    options?: {
      /** Who decided; default: the host itself. */
      readonly by?: SessionAuth;
      /** Approves although the agent's code has changed since the call was asked about. Default true. */
      readonly confirm?: boolean;
    },
  ): Promise<void>;
  /** Keeps the process from stopping until the promise settles; a failure is logged. */
  waitUntil(promise: Promise<unknown>): void;
}

/** What a sender is answered. */
export interface PackAnswer {
  readonly status: number;
  /** Left out: an empty one. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** The sender's protocol asks for it: told also where a host answers 202 to everything. */
  readonly isAsked?: boolean;
}

/** Where a sender posts, answered from the bytes as they came: for many, so no `Request` is made of them. */
export interface PackIngress {
  /** Below the channel; `/` is the channel itself. */
  readonly path: string;
  readonly description: string;
  /** Says itself who is let in: throws `RuntimeError` `unauthorized`. */
  take(request: ChannelRequest): Promise<PackAnswer>;
}

/** A pack at work: a channel's parts, as the rest of the runtime uses them. */
export interface ServedPack {
  readonly ingress: PackIngress;
  /** Called before the project's own handlers, for events that `packFacts` lists. */
  readonly events?: ChannelConfig["events"];
  readonly onStart?: ChannelConfig["onStart"];
  /** Largest body in bytes; default the host's limit. */
  readonly bodyLimit?: number;
  /** Handles what `accept` took. A rejection is logged, and the same id may then be sent again. */
  deliver?(delivery: InboxDelivery): Promise<void>;
  /** Where a `receive` goes that has a target, such as `{ channelId, threadTs }`. Throws for one that means nothing. */
  route?(options: ReceiveOptions): SendOptions | Promise<SendOptions>;
}

/** What a client is made from. */
export interface ClientRequest {
  readonly environment: Environment;
  /** `envPrefix` of the channel whose credentials are meant. */
  readonly prefix: string | undefined;
  /** That channel's options, as the project wrote them. */
  readonly options: unknown;
  /** The session it is for, when there is one. */
  readonly record: SessionRecord | undefined;
  /** `owner/name` of what the client is for, when its caller says so. */
  readonly repository: string | undefined;
  readonly log: Log;
}

/** What a pack's section exports. */
export interface PackSection {
  openPack(host: PackHost): ServedPack | Promise<ServedPack>;
  /** A client with the host's credentials. Rejects naming the variables that are missing. */
  openClient?(request: ClientRequest): unknown;
}

/**
 * The section of a pack.
 *
 * @throws when there is no such pack, or the server was built without it.
 */
export async function loadPack(sections: Sections, pack: string): Promise<PackSection> {
  const facts = Object.hasOwn(packFacts, pack) ? packFacts[pack] : undefined;
  if (facts === undefined) throw new Error(`there is no channel pack "${pack}"`);
  const section = (await sections[facts.section]?.()) as PackSection | undefined;
  if (section === undefined) {
    throw new Error(`this server was built without ${pack}; build it with \`bdk build --include ${facts.section}\``);
  }
  return section;
}

/** Clients for `ctx.host.github` and `ctx.host.slack`. */
export type OpenClient = (
  pack: "github" | "slack",
  record: SessionRecord | undefined,
  at?: { readonly repository?: string },
) => Promise<unknown>;

/**
 * The credentials are those of the session's own channel, when a pack carries it out; else the ones without a prefix,
 * unless the agent's only channel of that pack has one.
 */
export function createClients(
  sections: Sections,
  generation: () => AgentGeneration,
  environment: Environment,
  log: Log,
): OpenClient {
  return async (pack, record, at) => {
    const { openClient } = await loadPack(sections, pack);
    if (openClient === undefined) throw new Error(`the pack "${pack}" has no client`);
    const channel = channelOf(generation(), pack, record);
    return openClient({
      environment,
      prefix: envPrefixOf(channel),
      options: channel?.options,
      record,
      repository: at?.repository,
      log,
    });
  };
}

/** The definition of the channel whose credentials are meant. */
function channelOf(
  { agent, definitions }: AgentGeneration,
  pack: string,
  record: SessionRecord | undefined,
): { readonly options?: unknown } | undefined {
  const channels = agent.channels.filter((channel) => channel.pack === pack);
  const own =
    channels.find(({ name }) => name === record?.channelId) ?? (channels.length === 1 ? channels[0] : undefined);
  return own === undefined ? undefined : (definitions[own.id] as { readonly options?: unknown } | undefined);
}

/** `envPrefix` of a pack's descriptor. */
export function envPrefixOf(definition: unknown): string | undefined {
  const options = (definition as { readonly options?: { readonly envPrefix?: unknown } } | undefined)?.options;
  return typeof options?.envPrefix === "string" ? options.envPrefix : undefined;
}
