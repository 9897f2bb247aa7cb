/** What comes in: the Events API over HTTP, and the same through Socket Mode. */
import { isDirectLoopback } from "../../auth/loopback.js";
import type { SlackChannelOptions } from "../../authoring/channels/slack.js";
import { RuntimeError } from "../../errors.js";
import type { JsonValue } from "../../session/event.js";
import type { ChannelRequest } from "../contract.js";
import { parseBody } from "../input.js";
import type { PackHost, PackIngress } from "../packs.js";
import { headerOf, turnAway } from "../sender.js";
import type { SlackCredentials } from "./client.js";
import { isStop } from "./conversation.js";
import { deliveryId, readSlackEvent, type SlackEvent, type SlackIdentity } from "./event.js";
import { fields, text } from "./fields.js";
import { createSignatureCheck } from "./signature.js";

/** Takes what Slack sent; resolves when it is on disk, or nothing to keep. */
export type TakeIn = (payload: unknown) => Promise<void>;

/** @param laneOf Deliveries of one lane are handled in order. */
export function createTakeIn(
  host: PackHost,
  options: SlackChannelOptions,
  identity: () => SlackIdentity,
  laneOf: (event: SlackEvent) => string | undefined,
): TakeIn {
  const hearsPosts = options.engagement?.channelPosts !== undefined;

  /** Most of a busy channel's posts are nobody's business, and are not written down. */
  function isWanted(event: SlackEvent): boolean {
    if (event.is === "ignored") return false;
    return event.is !== "message" || event.kind !== "post" || hearsPosts || isStop(event.message);
  }

  return async (payload) => {
    const event = readSlackEvent(payload, identity());
    const id = deliveryId(payload);
    if (!isWanted(event)) {
      if (event.is === "ignored") host.log("debug", `channel "${host.id}": ignored ${event.why}`);
      return;
    }
    if (id === undefined) {
      host.log("warn", `channel "${host.id}": an event without an id was dropped`);
      return;
    }
    await host.accept(id, event as unknown as JsonValue, laneOf(event));
  };
}

/**
 * The one address for events and for pressed buttons. Whoever signs may call; without a secret only this machine, so that
 * a bot can be tried out (decision 39). Slack is answered when what it sent is safe, not when it is done.
 */
export function createIngress(channelId: string, { signingSecret }: SlackCredentials, takeIn: TakeIn): PackIngress {
  const isSigned = signingSecret === undefined ? undefined : createSignatureCheck(signingSecret, Date.now);

  async function isSlack(request: ChannelRequest): Promise<boolean> {
    if (isSigned === undefined) return isDirectLoopback(request);
    const timestamp = headerOf(request, "x-slack-request-timestamp");
    const signature = headerOf(request, "x-slack-signature");
    return timestamp !== undefined && isSigned({ timestamp, signature, body: await request.body() });
  }

  return {
    path: "/events",
    description: "Events and interactions of the Slack app",
    async take(request) {
      if (!(await isSlack(request))) return turnAway(request, channelId);
      const payload = readBody(await request.body(), headerOf(request, "content-type"));
      if (payload === undefined) throw new RuntimeError("invalid_request", "neither an event nor an interaction");
      const { type, challenge } = fields(payload);
      if (type === "url_verification") {
        return { status: 200, body: { challenge: text(challenge) ?? "" }, isAsked: true };
      }
      await takeIn(payload);
      return { status: 200 };
    },
  };
}

/** Events come as JSON, interactions as a form whose field `payload` is JSON. */
function readBody(bytes: Buffer, contentType: string | undefined): unknown {
  const parsed = parseBody(bytes, contentType, true);
  if ("is" in parsed) return undefined;
  const { type, payload } = fields(parsed.value);
  if (typeof type === "string") return parsed.value;
  if (typeof payload !== "string") return undefined;
  try {
    return JSON.parse(payload) as unknown;
  } catch {
    return undefined; // signed, and still no JSON: nothing of Slack's
  }
}
