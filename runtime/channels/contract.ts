/** What the channels of an agent need of the world, and what they offer to it. */
import type { ArtifactScope } from "../artifacts/api.js";
import type { AuthRequest } from "../auth/loopback.js";
import type { OidcSection } from "../auth/oidc/contract.js";
import type { AuthPolicy } from "../auth/policy.js";
import type { ArtifactsApi } from "../authoring/artifacts.js";
import type { ChannelDefinition, Receive } from "../authoring/channels.js";
import type { HostKvApi, HostServices, SessionAuth } from "../authoring/host.js";
import type { ErrorCode } from "../errors.js";
import type { Sections } from "../host/sections.js";
import type { AgentGeneration } from "../manifest/bundle.js";
import type { ChannelEntry } from "../manifest/schema.js";
import type { JsonValue, SessionEvent } from "../session/event.js";
import type { RunningSessions } from "../session/index.js";
import type { Log, ObservedSession, SessionRecord } from "../session/ports.js";
import type { ServedPack } from "./packs.js";

/** A channel of the running code. */
export interface RunningChannel {
  readonly id: string;
  readonly entry: ChannelEntry;
  readonly definition: ChannelDefinition;
  /** What carries it out, when it is a pack's. */
  readonly pack?: ServedPack;
  /** The pack's handlers, then the project's own. */
  readonly handlers: readonly NonNullable<ChannelDefinition["events"]>[];
}

/** How far each session's events have been handed to its channel. */
export interface DeliveryCursors {
  get(sessionId: string): DeliveryCursor | undefined;
  put(sessionId: string, cursor: DeliveryCursor): void;
  /** Takes out those of sessions that are gone. */
  retain(exists: (sessionId: string) => boolean): void;
  close(): void;
}

/** A delivery as the inbox keeps it. */
export interface InboxEntry {
  readonly id: string;
  readonly payload: JsonValue;
  /** ISO-8601 instant at which it was taken. */
  readonly at: string;
  /** Entries of one lane are handled one after another. */
  readonly lane?: string;
  /** Work began that must not be done twice. */
  readonly hasBegun: boolean;
}

/** What came from outside, by channel and the sender's id: kept until done with, its id longer. */
export interface Inbox {
  /** On disk when it resolves; false when the id was taken before. */
  take(channelId: string, id: string, payload: JsonValue, lane?: string): Promise<boolean>;
  /** On disk when it resolves. */
  begin(channelId: string, id: string): Promise<void>;
  /** `done`: never again. `released`: the same id may come again. */
  settle(channelId: string, id: string, how: "done" | "released"): void;
  /** Those not done with, oldest first. */
  pending(channelId: string): readonly InboxEntry[];
  close(): Promise<void>;
}

export interface DeliveryCursor {
  /** Index of the last event that is done with. */
  readonly index: number;
  /** Its instant. */
  readonly at: string;
}

export interface ChannelSources {
  readonly generation: () => AgentGeneration;
  readonly sessions: Pick<
    RunningSessions,
    | "create"
    | "followUp"
    | "get"
    | "read"
    | "settled"
    | "list"
    | "findByKey"
    | "rekey"
    | "stop"
    | "approvals"
    | "resolveApproval"
  >;
  /** The facts of a session, as they are stored. */
  readonly record: (sessionId: string) => SessionRecord | undefined;
  readonly services: (record: SessionRecord | undefined) => HostServices;
  readonly artifacts: (scope: ArtifactScope) => ArtifactsApi;
  /** Where channels keep their state, by channel id. */
  readonly state: HostKvApi;
  readonly cursors: () => DeliveryCursors;
  readonly inbox: () => Inbox;
  /** Where a pack keeps what it must know again, by channel id. */
  readonly packState: (channelId: string) => HostKvApi;
  /** Where packs are loaded from. */
  readonly sections: Sections;
  /** Aborts when the server shuts down. */
  readonly signal: AbortSignal;
  /** ISO-8601 instant at which this process began: what was made later needs no catching up. */
  readonly startedAt: string;
  /** What checks tokens of OpenID providers; rejects when it was not linked. */
  readonly oidc: () => Promise<OidcSection>;
  readonly log: Log;
  /** Makes the error that callers see. */
  readonly fail: (code: ErrorCode, message: string) => Error;
}

/** A request below `/v1/channels/`. */
export interface ChannelRequest extends AuthRequest {
  readonly method: string;
  /** What follows `/v1/channels/`, still encoded, without the query: `drive/status/7`. */
  readonly path: string;
  readonly url: string;
  readonly query: Readonly<Record<string, unknown>>;
  /** Names and values by turns, as they came. */
  readonly rawHeaders: readonly string[];
  /** Counts the request against its caller's allowance, once it is known who that is; rejects when it is used up. */
  readonly meter?: (auth: SessionAuth | undefined) => Promise<void>;
  /** The host's own policies, for channels that have none. */
  readonly hostAuth: readonly AuthPolicy[];
  /** The bytes as they came, read when first asked for; rejects when there are more than the limit, the host's by default. */
  body(limit?: number): Promise<Buffer>;
  /** Aborts when the client is gone or the host closes. */
  readonly signal: AbortSignal;
  /** The handler's answer is for nobody: the caller gets 202 as soon as the request is found good. */
  readonly isHosted: boolean;
}

/** What came of a request. */
export type ChannelAnswer =
  | { readonly is: "answered"; readonly response: Response }
  | { readonly is: "told"; readonly status: number; readonly body?: Readonly<Record<string, unknown>> }
  /** Taken; whatever the handler answers is dropped. */
  | { readonly is: "accepted" }
  /** The handler, or a policy, failed: for the log, not for the caller. */
  | { readonly is: "failed"; readonly where: string; readonly error: unknown }
  | ChannelRefusal;

/** Why a request never reached a handler. */
export interface ChannelRefusal {
  readonly is: "refused";
  readonly code:
    | "invalid_request"
    | "unauthorized"
    | "forbidden"
    | "auth_unavailable"
    | "not_found"
    | "method_not_allowed";
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The channels of one agent, over all generations of its code. */
export interface Channels {
  /** The running code's channels are ready when it resolves; those of the code before serve until then. */
  ready(): Promise<void>;
  handle(request: ChannelRequest): Promise<ChannelAnswer>;
  /** Hands an event to the channel that owns the session, after those it missed. Never rejects. */
  deliver(event: SessionEvent, session: ObservedSession): Promise<void>;
  /** Takes up what an earlier process was given and hands over what it recorded, and did not finish with. */
  recover(): Promise<void>;
  /** Runs `onStart` of the running code's channels; of code that ran before, the signal aborts. */
  start(): void;
  readonly receive: Receive;
  /** Resolves when there is time for another turn, or the signal aborts: in a burst, acknowledgements come first. */
  pace(signal: AbortSignal): Promise<void>;
  /** Resolves when nothing that `waitUntil` was given is pending. */
  settled(): Promise<void>;
}

/** What the section `channels` exports. */
export interface ChannelsSection {
  createChannels(sources: ChannelSources): Channels;
}
