/** `bot/channels/<name>.ts`: HTTP surfaces of your own, and the auth policies that guard them. */
import type { JsonObject, JsonValue, SessionEvent, SessionEventType, SessionMode } from "../session/event.js";
import type { ArtifactsApi } from "./artifacts.js";
import type { HostServices, SessionAuth, SessionInfo } from "./host.js";
import type { InferOutput, StandardSchema } from "./schema.js";

/** A policy of your own: who is calling, or `null` to let the next policy try. */
export type AuthFunction = (request: Request) => SessionAuth | null | Promise<SessionAuth | null>;

/** A built-in policy, described; the host carries it out. */
export type AuthPolicy =
  | { readonly __agentServe: "auth"; readonly scheme: "local-dev-strict" }
  | { readonly __agentServe: "auth"; readonly scheme: "bearer"; readonly token: string; readonly id: string }
  | { readonly __agentServe: "auth"; readonly scheme: "allow-all" }
  | {
      readonly __agentServe: "auth";
      readonly scheme: "basic";
      readonly users: Readonly<Record<string, string>>;
    }
  | { readonly __agentServe: "auth"; readonly scheme: "hmac"; readonly options: HmacAuthOptions }
  | { readonly __agentServe: "auth"; readonly scheme: "oidc"; readonly options: OidcAuthOptions };

/** An entry of a channel's `auth`; the first that admits the request decides who is calling. */
export type AuthFn = AuthPolicy | AuthFunction;

/** Admits direct loopback calls only, and nothing that came through a proxy. */
export function localDevStrict(): AuthPolicy {
  return { __agentServe: "auth", scheme: "local-dev-strict" };
}

/**
 * Admits `Authorization: Bearer <token>`. Compared in constant time.
 *
 * @param id Name of the principal; default `"token"`. Sessions are owned by it.
 */
export function bearerAuth(token: string, id = "token"): AuthPolicy {
  return { __agentServe: "auth", scheme: "bearer", token, id };
}

/** Admits everyone; for demos on trusted networks. */
export function allowAll(): AuthPolicy {
  return { __agentServe: "auth", scheme: "allow-all" };
}

/** Admits HTTP basic auth. `users` maps names to passwords. */
export function basicAuth(users: Readonly<Record<string, string>>): AuthPolicy {
  return { __agentServe: "auth", scheme: "basic", users };
}

/** How a sender signs its requests. */
export interface HmacAuthOptions {
  readonly secret: string;
  /** Header that carries the signature, such as `x-hub-signature-256`. */
  readonly header: string;
  /** Default `sha256`. */
  readonly algorithm?: "sha256" | "sha1" | "sha512";
  /** Default `hex`. */
  readonly encoding?: "hex" | "base64";
  /** Text before the signature, such as `sha256=`. */
  readonly prefix?: string;
}

/** Admits requests whose raw body is signed with a shared secret. */
export function hmacAuth(options: HmacAuthOptions): AuthPolicy {
  return { __agentServe: "auth", scheme: "hmac", options };
}

/** An identity provider whose tokens are accepted. */
export interface OidcAuthOptions {
  readonly issuer: string;
  readonly audience: string | readonly string[];
  /** Default: found through the issuer's discovery document. */
  readonly jwksUri?: string | undefined;
  /** Signature algorithms to accept. Default: all that a provider's public keys verify; never `none` or `HS…`. */
  readonly algorithms?: readonly OidcAlgorithm[] | undefined;
  /** How far the clocks of provider and server may differ, in seconds. Default 30. */
  readonly clockToleranceSeconds?: number | undefined;
  /** Scopes that a token has to have, all of them; 403 `forbidden` when one is missing. */
  readonly requiredScopes?: readonly string[] | undefined;
  /**
   * Makes the principal from the token's claims; `null`: this one is not let in (403). Default: kind `oidc`, the id is
   * `sub`, or `<iss>#<sub>` in a channel that takes tokens of several issuers.
   */
  principal?(claims: OidcClaims): SessionAuth | null | Promise<SessionAuth | null>;
}

export type OidcAlgorithm = `${"RS" | "PS" | "ES"}${"256" | "384" | "512"}` | "EdDSA" | "Ed25519";

/** What a token says, once it was found good. */
export type OidcClaims = Readonly<Record<string, unknown>> & { readonly sub: string };

/**
 * Admits bearer tokens (JWTs) of an OpenID provider, such as access tokens or a CI system's identity tokens; the
 * principal's id is the token's `sub`. Signature, issuer, audience and times are checked; a refused token is 401 with
 * the reason in `WWW-Authenticate`.
 *
 * @example
 * oidcAuth({ issuer: "https://token.actions.githubusercontent.com", audience: "my-agent" })
 */
export function oidcAuth(options: OidcAuthOptions): AuthPolicy {
  return { __agentServe: "auth", scheme: "oidc", options };
}

/** How `send` and `receive` treat a message. */
export interface SendOptions {
  /** The channel's own key of the conversation, such as `ticket:TCK-1`; left out: a new session. */
  readonly continuationToken?: string | undefined;
  readonly title?: string | undefined;
  /** `preempt` (default) interrupts a running turn; `coalesce` queues behind it. */
  readonly admission?: "preempt" | "coalesce" | undefined;
  /** Relative path → text, written into the workspace before the turn. */
  readonly workspaceFiles?: Readonly<Record<string, string>> | undefined;
  /**
   * Absolute path of a folder to work in, such as the worktree of a pull request, instead of a workspace of the
   * session's own. Taken when the session begins; a follow-up keeps the folder it has.
   */
  readonly workspaceDir?: string | undefined;
  /** Who the session belongs to. Default: who the auth chain admitted. */
  readonly auth?: SessionAuth | undefined;
  readonly mode?: SessionMode | undefined;
}

/** How a turn ended. */
export interface Completion {
  readonly status: "finished" | "error" | "cancelled";
  /** The reply. */
  readonly result?: string;
  readonly errorMessage?: string;
}

/** A session, as a channel sees it. */
export interface ChannelSession {
  readonly id: string;
  readonly continuationToken?: string;
  /** Resolves when no turn of the session is running. */
  waitForCompletion(): Promise<Completion>;
}

/** What `receive` takes: a message for another channel's conversation. */
export interface ReceiveOptions extends Omit<SendOptions, "auth"> {
  readonly message: string;
  readonly auth: SessionAuth;
  /** Where the channel should deliver, such as `{ channelId, threadTs }` for Slack. */
  readonly target?: JsonObject | undefined;
}

/** Hands a message into a channel, so that its delivery events fire. */
export type Receive = (channel: AnyChannelDefinition, options: ReceiveOptions) => Promise<ChannelSession>;

/** What a route's handler is given besides the request. */
export interface ChannelHandlerArgs<Body = unknown, Query = unknown, State = JsonValue> {
  /** The parsed body; the untouched one is `request`'s. */
  readonly body: Body;
  readonly query: Query;
  /** Path parameters. */
  readonly params: Readonly<Record<string, string>>;
  /** Who the auth chain admitted. */
  readonly auth: SessionAuth;
  /** The channel's durable state. Change it through `setState`. */
  readonly state: State;
  setState(state: State): Promise<void>;
  readonly host: HostServices;
  readonly artifacts: ArtifactsApi;
  readonly signal: AbortSignal;
  send(message: string, options?: SendOptions): Promise<ChannelSession>;
  getSession(id: string): Promise<ChannelSession | undefined>;
  readonly receive: Receive;
  /** Changes the key of a conversation. */
  setContinuationToken(sessionId: string, key: string): Promise<void>;
  /** Keeps the process from stopping until the promise settles; the response isn't delayed. */
  waitUntil(promise: Promise<unknown>): void;
}

/** Options of one route. */
export interface RouteOptions<B, Q> {
  readonly description?: string | undefined;
  /** Checks the JSON body; a request that fails it is answered 400. */
  readonly bodySchema?: B | undefined;
  /** Checks the query string. */
  readonly querySchema?: Q | undefined;
  handler(request: Request, args: ChannelHandlerArgs<Parsed<B>, Parsed<Q>>): Response | Promise<Response>;
}

type Parsed<S> = S extends StandardSchema ? InferOutput<S> : unknown;
type OptionalSchema = StandardSchema | undefined;
type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** One route of a channel, below `/v1/channels/<name>`. */
export interface Route {
  readonly __agentServe: "route";
  readonly method: Method;
  /** Starts with `/`; `:name` is a parameter. */
  readonly path: string;
  readonly description?: string | undefined;
  readonly bodySchema?: StandardSchema | undefined;
  readonly querySchema?: StandardSchema | undefined;
  handler(request: Request, args: ChannelHandlerArgs<never, never>): Response | Promise<Response>;
}

/**
 * A route that answers GET.
 *
 * @example GET("/status", { querySchema: z.object({}), handler: () => Response.json({ ok: true }) })
 */
export function GET<B extends OptionalSchema = undefined, Q extends OptionalSchema = undefined>(
  path: string,
  options: RouteOptions<B, Q>,
): Route {
  return { ...options, __agentServe: "route", method: "GET", path };
}

/** A route that answers POST. */
export function POST<B extends OptionalSchema = undefined, Q extends OptionalSchema = undefined>(
  path: string,
  options: RouteOptions<B, Q>,
): Route {
  return { ...options, __agentServe: "route", method: "POST", path };
}

/** A route that answers PUT. */
export function PUT<B extends OptionalSchema = undefined, Q extends OptionalSchema = undefined>(
  path: string,
  options: RouteOptions<B, Q>,
): Route {
  return { ...options, __agentServe: "route", method: "PUT", path };
}

/** A route that answers PATCH. */
export function PATCH<B extends OptionalSchema = undefined, Q extends OptionalSchema = undefined>(
  path: string,
  options: RouteOptions<B, Q>,
): Route {
  return { ...options, __agentServe: "route", method: "PATCH", path };
}

/** A route that answers DELETE. */
export function DELETE<B extends OptionalSchema = undefined, Q extends OptionalSchema = undefined>(
  path: string,
  options: RouteOptions<B, Q>,
): Route {
  return { ...options, __agentServe: "route", method: "DELETE", path };
}

/** What a channel's event handler is given besides the event. */
export interface ChannelEventContext<State = JsonValue> {
  readonly channel: {
    readonly id: string;
    readonly state: State;
    setState(state: State): Promise<void>;
    readonly continuationToken: string | null;
  };
  readonly session: SessionInfo;
  readonly host: HostServices;
  readonly artifacts: ArtifactsApi;
  readonly signal: AbortSignal;
  /** Changes the key of this conversation. */
  setContinuationToken(key: string): Promise<void>;
}

/** Handlers by event type, for the sessions this channel owns. Delivered at least once, in order. */
export type ChannelEvents<State> = {
  readonly [K in SessionEventType]?: (event: SessionEvent<K>, ctx: ChannelEventContext<State>) => unknown;
} & { readonly "*"?: (event: SessionEvent, ctx: ChannelEventContext<State>) => unknown };

/** What `onStart` is given when the server comes up. */
export interface ChannelStartArgs {
  readonly host: HostServices;
  readonly artifacts: ArtifactsApi;
  readonly receive: Receive;
  readonly signal: AbortSignal;
}

/** A channel, as its file writes it. */
export interface ChannelConfig<State = JsonValue> {
  readonly description?: string | undefined;
  /** Tried in order until one admits. Default: the host's own policy. */
  readonly auth?: readonly AuthFn[] | undefined;
  readonly routes: readonly Route[];
  readonly events?: ChannelEvents<State> | undefined;
  /** The state before anything was stored. */
  readonly state?: State | undefined;
  onStart?(args: ChannelStartArgs): unknown;
}

/** What `defineChannel` returns. */
export type ChannelDefinition<State = JsonValue> = ChannelConfig<State> & {
  readonly __agentServe: "channel";
  /** Which pack implements it, for those that `slackChannel` and the like return. */
  readonly pack?: string;
};

/** A channel of any state, as `receive` takes it. */
export type AnyChannelDefinition = Pick<ChannelDefinition, "__agentServe" | "routes" | "pack">;

/**
 * Defines a channel.
 *
 * @example
 * export default defineChannel({
 *   auth: [localDevStrict()],
 *   routes: [
 *     POST("/", {
 *       bodySchema: z.object({ text: z.string() }),
 *       handler: async (_request, { body, send }) => Response.json({ session: (await send(body.text)).id }),
 *     }),
 *   ],
 * });
 */
export function defineChannel<State extends JsonValue = JsonValue>(
  config: ChannelConfig<State>,
): ChannelDefinition<State> {
  return { ...config, __agentServe: "channel" };
}

export {
  bearerToken,
  type HmacSignatureOptions,
  hmacSignature,
  standardSignature,
  stripeSignature,
  type TimestampedSignatureOptions,
  timestampedSignature,
  type WebhookChannelDefinition,
  type WebhookChannelOptions,
  type WebhookDispatch,
  type WebhookEvent,
  type WebhookSecret,
  type WebhookVerify,
  webhookChannel,
} from "./channels/webhook.js";
