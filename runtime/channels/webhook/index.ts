/** The generic webhook pack: the optional part of the runtime behind `webhookChannel`. */
import { randomUUID } from "node:crypto";
import type { WebhookChannelOptions, WebhookDispatch, WebhookEvent } from "../../authoring/channels/webhook.js";
import { localDevStrict, POST } from "../../authoring/channels.js";
import type { JsonValue } from "../../session/event.js";
import { messageOf } from "../../tools/result.js";
import type { InboxDelivery, PackHost, ServedPack } from "../packs.js";
import { secretOf, type Vouched, vouch } from "./verify.js";

/** What the inbox holds of a webhook: all but what is secret. */
type Kept = Pick<WebhookEvent, "body" | "text" | "headers" | "query">;

/** Headers of the same request whenever a sender repeats it. */
const idHeaders = ["idempotency-key", "x-request-id", "x-delivery-id", "x-webhook-id", "webhook-id"];

export function openPack(host: PackHost): ServedPack {
  const { id: channelId, log } = host;
  const options = host.definition.options as WebhookChannelOptions;
  const verifies = Array.isArray(options.verify) ? options.verify : [options.verify];
  if (verifies.length === 0 || typeof options.map !== "function") {
    throw new Error("webhookChannel takes `verify` and `map`");
  }
  const isOpen = verifies.every((verify) => secretOf(verify) === undefined);
  if (isOpen) {
    log("warn", `channel "${channelId}": its secret is empty, so only direct calls from this machine are taken`);
  }
  /** What the sender of a request vouched for, from admission to the route. */
  const vouched = new WeakMap<object, Vouched>();
  const secretHeaders = new Set(["authorization", "cookie", "proxy-authorization", ...verifies.flatMap(headersOf)]);

  async function check(request: Request): Promise<Vouched | undefined> {
    const bytes = new Uint8Array(await request.arrayBuffer());
    for (const verify of verifies) {
      const found = vouch(verify, { headers: request.headers, bytes, now: Date.now() });
      if (found !== undefined) return found;
    }
    return undefined;
  }

  async function take(request: Request, body: unknown, query: unknown, auth: object): Promise<Response> {
    const headers = Object.fromEntries([...request.headers].filter(([name]) => !secretHeaders.has(name)));
    const kept: Kept = { body, text: await request.text(), headers, query: query as WebhookEvent["query"] };
    const receivedAt = new Date().toISOString();
    const id = idOf({ ...kept, receivedAt }, vouched.get(auth));
    const lane = options.lane?.({ ...kept, id, receivedAt });
    const isNew = await host.accept(
      id,
      { ...kept, body: body === undefined ? null : body } as unknown as JsonValue,
      lane,
    );
    if (!isNew) return Response.json({ ok: true, ignored: "delivered before" });
    return Response.json({ ok: true }, { status: 202 });
  }

  function idOf(event: Omit<WebhookEvent, "id">, { digest }: Vouched = {}): string {
    const own = options.id?.(event);
    if (own !== undefined && own !== "") return own;
    const { body } = event;
    const named = typeof body === "object" && body !== null && "id" in body ? body.id : undefined;
    if ((typeof named === "string" && named !== "" && named.length <= 200) || typeof named === "number")
      return `id:${named}`;
    if (digest !== undefined) return digest;
    // A header proves nothing, but where nothing is signed there is nothing to prove either.
    return idHeaders.map((name) => event.headers[name]).find((value) => value !== undefined) ?? randomUUID();
  }

  async function deliver(delivery: InboxDelivery): Promise<void> {
    const { id, at, payload } = delivery;
    const event = { ...(payload as unknown as Kept), id, receivedAt: at };
    const dispatch: unknown = await options.map(event, { host: host.services });
    if (dispatch === null || dispatch === undefined) return;
    if (!isDispatch(dispatch)) throw new TypeError("`map` must return { message }, { task } or null");
    if (dispatch.task !== undefined) return runTask(delivery, dispatch.task);
    const { message, auth = { kind: "channel", id: channelId }, ...sending } = dispatch;
    await host.send(auth, message, { ...sending, idempotencyKey: id });
  }

  /** At most once: nobody can tell what half of it has done. */
  async function runTask({ id, hasBegun, begin }: InboxDelivery, task: () => Promise<unknown>): Promise<void> {
    if (hasBegun) {
      log("warn", `channel "${channelId}": the task for ${id} was cut off and is not run again`);
      return;
    }
    await begin();
    host.waitUntil(
      Promise.resolve()
        .then(task)
        .catch((error: unknown) => log("error", `channel "${channelId}": a task failed: ${messageOf(error)}`)),
    );
  }

  return {
    auth: [
      ...(isOpen ? [localDevStrict()] : []),
      async function webhookSignature(request) {
        const found = await check(request);
        if (found === undefined) return null;
        const auth = { kind: "channel", id: channelId };
        vouched.set(auth, found);
        return auth;
      },
    ],
    routes: [
      POST("/", {
        description: options.description ?? "Signed webhooks",
        handler: (request, { body, query, auth }) => take(request, body, query, auth),
      }),
    ],
    deliver,
  };
}

function headersOf(verify: WebhookChannelOptions["verify"] & { readonly header?: string }): readonly string[] {
  return verify.header === undefined ? [] : [verify.header.toLowerCase()];
}

function isDispatch(value: unknown): value is WebhookDispatch {
  if (typeof value !== "object" || value === null) return false;
  if ("task" in value && value.task !== undefined) return typeof value.task === "function";
  return "message" in value && typeof value.message === "string";
}
