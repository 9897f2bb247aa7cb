import { createHmac } from "node:crypto";
import { matchSecret } from "../../auth/secret.js";

/** A request that is older, or newer, than this many seconds is no longer believed. Source: `standards.md`. */
export const toleranceSeconds = 300;

/** What a signed request carries. */
export interface SignedRequest {
  /** Value of `X-Slack-Request-Timestamp`: seconds since the epoch. */
  readonly timestamp: string | undefined;
  /** Value of `X-Slack-Signature`: `v0=` and 64 hex digits. */
  readonly signature: string | undefined;
  /** The bytes as they came. */
  readonly body: Uint8Array;
}

/** Checks signatures of one app. */
export type VerifySignature = (request: SignedRequest) => boolean;

/**
 * Makes a check for Slack's request signatures: HMAC-SHA-256 over `v0:<timestamp>:<body>`, compared in constant time,
 * and refused when its timestamp is more than five minutes away.
 *
 * @param now Milliseconds since the epoch.
 */
export function createSignatureCheck(signingSecret: string, now: () => number): VerifySignature {
  return ({ timestamp, signature, body }) => {
    if (timestamp === undefined || signature === undefined || !/^\d{1,12}$/.test(timestamp)) return false;
    if (Math.abs(now() / 1_000 - Number(timestamp)) > toleranceSeconds) return false;
    const expected = createHmac("sha256", signingSecret).update(`v0:${timestamp}:`).update(body).digest("hex");
    return matchSecret(`v0=${expected}`)(signature);
  };
}
