/** The generic webhook pack: the optional part of the runtime behind `webhookChannel`. */
import { createHash, randomUUID } from "node:crypto";
import { isDirectLoopback } from "../../auth/loopback.js";
import type { WebhookChannelOptions, WebhookDispatch, WebhookEvent } from "../../authoring/channels/webhook.js";
import { RuntimeError } from "../../errors.js";
import type { JsonValue } from "../../session/event.js";
import { messageOf } from "../../tools/result.js";
import type { ChannelRequest } from "../contract.js";
import { parseBody } from "../input.js";
import type { InboxDelivery, PackAnswer, PackHost, ServedPack } from "../packs.js";
import { headerOf, turnAway } from "../sender.js";
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
  const secretHeaders = new Set(["authorization", "cookie", "proxy-authorization", ...verifies.flatMap(headersOf)]);

  function vouchFor(request: ChannelRequest, bytes: Uint8Array): Vouched | undefined {
    const asked = { headers: request.headers, bytes, now: Date.now() };
    for (const verify of verifies) {
      const found = vouch(verify, asked);
      if (found !== undefined) return found;
    }
    return isOpen && isDirectLoopback(request) ? {} : undefined;
  }

  async function take(request: ChannelRequest): Promise<PackAnswer> {
    const bytes = await request.body();
    const vouched = vouchFor(request, bytes);
    if (vouched === undefined) return turnAway(request, channelId);
    const parsed = parseBody(bytes, headerOf(request, "content-type"), false);
    if ("is" in parsed) throw new RuntimeError(parsed.code, parsed.message);
    const body = parsed.value ?? null;
    const headers = Object.fromEntries(
      Object.keys(request.headers).flatMap((name) =>
        secretHeaders.has(name) ? [] : [[name, headerOf(request, name) ?? ""] as const],
      ),
    );
    const kept: Kept = { body, text: bytes.toString("utf8"), headers, query: request.query as WebhookEvent["query"] };
    const receivedAt = new Date().toISOString();
    const id = idOf({ ...kept, receivedAt }, vouched);
    const lane = options.lane?.({ ...kept, id, receivedAt });
    const isNew = await host.accept(id, kept as unknown as JsonValue, lane);
    return isNew
      ? { status: 202, body: { ok: true } }
      : { status: 200, body: { ok: true, ignored: "delivered before" } };
  }

  function idOf(event: Omit<WebhookEvent, "id">, { digest }: Vouched = {}): string {
    const own = options.id?.(event);
    if (own !== undefined && own !== "") return short(own);
    const { body } = event;
    const named = typeof body === "object" && body !== null && "id" in body ? body.id : undefined;
    if ((typeof named === "string" && named !== "" && named.length <= 200) || typeof named === "number")
      return `id:${named}`;
    if (digest !== undefined) return short(digest);
    // A header proves nothing, but where nothing is signed there is nothing to prove either.
    return short(idHeaders.flatMap((name) => event.headers[name] || []).at(0) ?? randomUUID());
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

  return { ingress: { path: "/", description: options.description ?? "Signed webhooks", take }, deliver };
}

/** What the inbox can hold as an id: of a longer one its hash, which tells repetitions as well. */
function short(id: string): string {
  return id.length <= 200 ? id : createHash("sha256").update(id).digest("hex");
}

function headersOf(verify: WebhookChannelOptions["verify"] & { readonly header?: string }): readonly string[] {
  return verify.header === undefined ? [] : [verify.header.toLowerCase()];
}

function isDispatch(value: unknown): value is WebhookDispatch {
  if (typeof value !== "object" || value === null) return false;
  if ("task" in value && value.task !== undefined) return typeof value.task === "function";
  return "message" in value && typeof value.message === "string";
}
