/** Whether a request comes from a sender that is known: signatures over the very bytes, compared in constant time. */
import { createHash, createHmac } from "node:crypto";
import { matchSecret } from "../../auth/secret.js";
import type {
  HmacSignatureOptions,
  TimestampedSignatureOptions,
  WebhookSecret,
  WebhookVerify,
} from "../../authoring/channels/webhook.js";
import type { ChannelRequest } from "../contract.js";
import { headerOf } from "../sender.js";

/** A request as it came. */
export interface WebhookRequest {
  readonly headers: ChannelRequest["headers"];
  readonly bytes: Uint8Array;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** What a sender vouches for. */
export interface Vouched {
  /** Tells a repetition of the signed content; absent where nothing is signed. */
  readonly digest?: string;
}

const defaultToleranceSeconds = 300;

/** The secret as it is now; `undefined` for one that is empty. */
export function readSecret(secret: WebhookSecret): string | undefined {
  return (typeof secret === "function" ? secret() : secret) || undefined;
}

export function secretOf(verify: WebhookVerify): string | undefined {
  return readSecret(verify.scheme === "bearer" ? verify.token : verify.secret);
}

/** `undefined`: not known. */
export function vouch(verify: WebhookVerify, request: WebhookRequest): Vouched | undefined {
  const secret = secretOf(verify);
  if (secret === undefined) return undefined;
  switch (verify.scheme) {
    case "hmac":
      return vouchBody(verify, secret, request);
    case "timestamped":
      return vouchInstant(verify, secret, request);
    case "bearer": {
      const sent = headerOf(request, verify.header?.toLowerCase() ?? "authorization");
      const token = verify.header === undefined ? /^bearer +(\S+) *$/i.exec(sent ?? "")?.[1] : sent;
      return token !== undefined && matchSecret(secret)(token) ? {} : undefined;
    }
  }
}

function vouchBody(options: HmacSignatureOptions, secret: string, request: WebhookRequest) {
  const { bytes } = request;
  const { algorithm = "sha256", encoding = "hex", prefix = "" } = options;
  const expected = createHmac(algorithm, secret).update(bytes).digest(encoding);
  return isAnyOf(signaturesIn(headerOf(request, options.header.toLowerCase()), prefix), expected, encoding)
    ? { digest: digestOf(bytes) }
    : undefined;
}

function vouchInstant(options: TimestampedSignatureOptions, secret: string, request: WebhookRequest) {
  const { bytes, now } = request;
  const header = (name: string) => headerOf(request, name.toLowerCase());
  const { algorithm = "sha256", encoding = "hex", prefix = "", fields, timestampHeader, idHeader } = options;
  const sent = header(options.header);
  const parts = fields === undefined ? [] : partsOf(sent);
  const instants =
    fields === undefined
      ? [timestampHeader === undefined ? undefined : header(timestampHeader)]
      : parts.filter(([name]) => name === fields.timestamp).map(([, value]) => value);
  const [instant] = instants;
  // Two instants would leave it open which one was signed.
  if (instants.length !== 1 || instant === undefined || !/^\d{1,12}$/.test(instant)) return undefined;
  const tolerance = (options.toleranceSeconds ?? defaultToleranceSeconds) * 1000;
  if (Math.abs(now - Number(instant) * 1000) > tolerance) return undefined;
  const id = idHeader === undefined ? "" : header(idHeader);
  if (id === undefined || (idHeader !== undefined && id === "")) return undefined;
  const hmac = createHmac(algorithm, keyOf(options, secret));
  for (const part of (options.content ?? "{timestamp}.{body}").split(/(\{timestamp\}|\{body\}|\{id\})/)) {
    hmac.update(part === "{body}" ? bytes : part === "{timestamp}" ? instant : part === "{id}" ? id : part);
  }
  const signatures =
    fields === undefined
      ? signaturesIn(sent, prefix)
      : parts.filter(([name]) => name === fields.signature).map(([, value]) => value);
  if (!isAnyOf(signatures, hmac.digest(encoding), encoding)) return undefined;
  return { digest: idHeader === undefined ? digestOf(bytes, instant) : id };
}

function keyOf({ secretEncoding = "text" }: TimestampedSignatureOptions, secret: string): string | Buffer {
  return secretEncoding === "text" ? secret : Buffer.from(secret.replace(/^whsec_/, ""), "base64");
}

/** `t=1,v1=a,v1=b` as names and values. */
function partsOf(header: string | undefined): readonly (readonly [string, string])[] {
  return (header ?? "").split(",").flatMap((part) => {
    const at = part.indexOf("=");
    return at < 1 ? [] : [[part.slice(0, at).trim(), part.slice(at + 1).trim()] as const];
  });
}

function signaturesIn(header: string | undefined, prefix: string): readonly string[] {
  return (header ?? "").split(" ").flatMap((part) => (part.startsWith(prefix) ? [part.slice(prefix.length)] : []));
}

function isAnyOf(signatures: readonly string[], expected: string, encoding: "hex" | "base64"): boolean {
  const isRight = matchSecret(expected);
  // More than a sender has keys would be guesses.
  const found = signatures.slice(0, 8).map((each) => isRight(encoding === "hex" ? each.toLowerCase() : each));
  return found.includes(true);
}

function digestOf(bytes: Uint8Array, instant = ""): string {
  return createHash("sha256").update(`${instant}.`).update(bytes).digest("hex");
}
