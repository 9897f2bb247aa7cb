/** The generic webhook pack: a channel that takes signed webhooks of any sender. */
import type { ChannelConfig, ChannelDefinition, SendOptions } from "../channels.js";
import type { HostServices, SessionAuth } from "../host.js";

/** A secret, or where it is read when a request comes: `() => process.env.STRIPE_WEBHOOK_SECRET`. */
export type WebhookSecret = string | (() => string | undefined);

/** A signature over the raw body alone. */
export interface HmacSignatureOptions {
  readonly secret: WebhookSecret;
  /** Header that carries the signature. */
  readonly header: string;
  /** Default `sha256`. */
  readonly algorithm?: "sha1" | "sha256" | "sha512";
  /** Default `hex`. */
  readonly encoding?: "hex" | "base64";
  /** Text before the signature, such as `sha256=`. */
  readonly prefix?: string;
}

/** A signature over the instant and the body, so that an old request can't be sent again. */
export interface TimestampedSignatureOptions {
  readonly secret: WebhookSecret;
  /** Header of the signature. With `fields` it carries the instant too, as `t=…,v1=…`. */
  readonly header: string;
  /** Names of the parts of the header, such as Stripe's `{ timestamp: "t", signature: "v1" }`. */
  readonly fields?: { readonly timestamp: string; readonly signature: string };
  /** Header of the instant, in seconds since 1970, when it has one of its own. */
  readonly timestampHeader?: string;
  /** Header of the delivery's id, when it is signed too. */
  readonly idHeader?: string;
  /** What is signed; default `{timestamp}.{body}`. There are `{timestamp}`, `{body}` and `{id}`. */
  readonly content?: string;
  /** Default `sha256`. */
  readonly algorithm?: "sha1" | "sha256" | "sha512";
  /** Default `hex`. */
  readonly encoding?: "hex" | "base64";
  /** Text before the signature, such as `v0=`. Several signatures may stand in the header, separated by spaces. */
  readonly prefix?: string;
  /** How the secret stands for its bytes; default `text`. `base64` also takes `whsec_…`. */
  readonly secretEncoding?: "text" | "base64";
  /** Seconds by which the instant may differ from now; default 300. */
  readonly toleranceSeconds?: number;
}

/** How a sender is known. */
export type WebhookVerify =
  | ({ readonly scheme: "hmac" } & HmacSignatureOptions)
  | ({ readonly scheme: "timestamped" } & TimestampedSignatureOptions)
  | {
      readonly scheme: "bearer";
      readonly token: WebhookSecret;
      /** Header with the bare token; default `Authorization: Bearer <token>`. */
      readonly header?: string;
    };

/**
 * A signature over the raw body. Without an instant in it the same body is taken once within a week, unless `id` of the
 * channel says otherwise.
 *
 * @example hmacSignature({ secret: () => process.env.LINEAR_SECRET, header: "linear-signature" })
 */
export function hmacSignature(options: HmacSignatureOptions): WebhookVerify {
  return { ...options, scheme: "hmac" };
}

/**
 * A signature over an instant and the body, in any arrangement.
 *
 * @example
 * timestampedSignature({
 *   secret: () => process.env.ZOOM_SECRET, header: "x-zm-signature", prefix: "v0=",
 *   timestampHeader: "x-zm-request-timestamp", content: "v0:{timestamp}:{body}",
 * })
 */
export function timestampedSignature(options: TimestampedSignatureOptions): WebhookVerify {
  return { ...options, scheme: "timestamped" };
}

/** Stripe's `Stripe-Signature: t=…,v1=…`. */
export function stripeSignature(options: {
  readonly secret: WebhookSecret;
  readonly header?: string;
  readonly toleranceSeconds?: number;
}): WebhookVerify {
  return {
    header: "stripe-signature",
    ...options,
    scheme: "timestamped",
    fields: { timestamp: "t", signature: "v1" },
  };
}

/** The Standard Webhooks convention: `webhook-id`, `webhook-timestamp`, `webhook-signature`, a secret `whsec_…`. */
export function standardSignature(options: {
  readonly secret: WebhookSecret;
  readonly toleranceSeconds?: number;
}): WebhookVerify {
  return {
    ...options,
    scheme: "timestamped",
    header: "webhook-signature",
    timestampHeader: "webhook-timestamp",
    idHeader: "webhook-id",
    content: "{id}.{timestamp}.{body}",
    encoding: "base64",
    prefix: "v1,",
    secretEncoding: "base64",
  };
}

/** A token that the sender sends with each request. */
export function bearerToken(token: WebhookSecret, options: { readonly header?: string } = {}): WebhookVerify {
  return { ...options, scheme: "bearer", token };
}

/** A webhook that came from a known sender. */
export interface WebhookEvent {
  /** By which a repetition is told. */
  readonly id: string;
  /** JSON, the fields of a form, or text, by the content type. */
  readonly body: unknown;
  /** The body as it came. */
  readonly text: string;
  /** Lower-case names; without signatures, credentials and cookies. */
  readonly headers: Readonly<Record<string, string>>;
  /** A repeated name is a list. */
  readonly query: Readonly<Record<string, string | readonly string[]>>;
  /** ISO-8601 instant at which it came. */
  readonly receivedAt: string;
}

/** Starts or continues a session; `task` runs host code in the background instead, at most once. */
export type WebhookDispatch =
  | (SendOptions & { readonly message: string; readonly auth?: SessionAuth; readonly task?: never })
  | { readonly task: () => Promise<unknown> };

/** Options of `webhookChannel`. */
export interface WebhookChannelOptions {
  readonly description?: string | undefined;
  /** How the sender is known; of several, one has to hold (while a secret is replaced, say). */
  readonly verify: WebhookVerify | readonly WebhookVerify[];
  /** What becomes of an event; `null` ignores it. Called in the background, after the sender was answered. */
  map(
    event: WebhookEvent,
    ctx: { readonly host: HostServices },
  ): WebhookDispatch | null | Promise<WebhookDispatch | null>;
  /**
   * What tells a repetition. Default: the body's `id`; else the signed id; else a hash of what is signed. An event known
   * by a token alone is never a repetition unless it has an `id` or a header such as `x-request-id`.
   */
  readonly id?: ((event: Omit<WebhookEvent, "id">) => string | undefined) | undefined;
  /** Events with one lane are handled one after another; default: all beside each other. */
  readonly lane?: ((event: WebhookEvent) => string | undefined) | undefined;
  readonly events?: ChannelConfig["events"];
}

/** What `webhookChannel` returns: a channel that the webhook pack carries out. */
export type WebhookChannelDefinition = ChannelDefinition & {
  readonly pack: "webhook";
  readonly options: WebhookChannelOptions;
};

/**
 * Webhooks of any sender as a channel: `POST /v1/channels/<name>`.
 *
 * @example
 * export default webhookChannel({
 *   verify: stripeSignature({ secret: () => process.env.STRIPE_WEBHOOK_SECRET }),
 *   map: ({ body }) => ({ message: `Stripe says: ${JSON.stringify(body)}` }),
 * });
 */
export function webhookChannel(options: WebhookChannelOptions): WebhookChannelDefinition {
  const { description, events } = options;
  return { __agentServe: "channel", pack: "webhook", description, routes: [], events, options };
}
