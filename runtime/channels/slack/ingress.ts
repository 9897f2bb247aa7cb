/** What comes in: the Events API over HTTP, and the same through Socket Mode. */

import type { SlackChannelOptions } from "../../authoring/channels/slack.js";
import { type AuthFn, localDevStrict, POST, type Route } from "../../authoring/channels.js";
import type { JsonValue } from "../../session/event.js";
import type { PackHost } from "../packs.js";
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

/** Who may call: whoever signs; without a secret only this machine, so that a bot can be tried out. Decision 39. */
export function ingressAuth({ signingSecret }: SlackCredentials): readonly AuthFn[] {
  if (signingSecret === undefined) return [localDevStrict()];
  const isSigned = createSignatureCheck(signingSecret, Date.now);
  return [
    async function slackSignature(request: Request) {
      const body = new Uint8Array(await request.arrayBuffer());
      const timestamp = request.headers.get("x-slack-request-timestamp") ?? undefined;
      const signature = request.headers.get("x-slack-signature") ?? undefined;
      return isSigned({ timestamp, signature, body }) ? { kind: "channel", id: "slack" } : null;
    },
  ];
}

/** The one address for events and for pressed buttons. Slack is answered when what it sent is safe, not when it is done. */
export function ingressRoute(takeIn: TakeIn): Route {
  return POST("/events", {
    description: "Events and interactions of the Slack app",
    async handler(_request, { body }) {
      const payload = readBody(body);
      if (payload === undefined) return new Response("neither an event nor an interaction", { status: 400 });
      const { type, challenge } = fields(payload);
      if (type === "url_verification") return Response.json({ challenge: text(challenge) ?? "" });
      await takeIn(payload);
      return new Response(null, { status: 200 });
    },
  });
}

/** Events come as JSON, interactions as a form whose field `payload` is JSON. */
function readBody(body: unknown): unknown {
  const { type, payload } = fields(body);
  if (typeof type === "string") return body;
  if (typeof payload !== "string") return undefined;
  try {
    return JSON.parse(payload) as unknown;
  } catch {
    return undefined; // signed, and still no JSON: nothing of Slack's
  }
}
