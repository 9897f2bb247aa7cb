/** Custom channels: the optional part of the runtime that answers below `/v1/channels/` and delivers events. */
import type { ChannelDefinition, ChannelHandlerArgs, Route } from "../authoring/channels.js";
import type { SessionAuth } from "../authoring/host.js";
import type { AgentGeneration } from "../manifest/bundle.js";
import type { JsonValue } from "../session/event.js";
import { messageOf } from "../tools/result.js";
import type { ChannelAnswer, ChannelRefusal, ChannelRequest, ChannelSources, Channels } from "./contract.js";
import { createConversations } from "./conversations.js";
import { createDelivery } from "./delivery.js";
import { checkInput, parseBody } from "./input.js";
import { createIntake } from "./intake.js";
import { createPackHost } from "./pack-host.js";
import type { PackHost } from "./packs.js";
import { headerOf } from "./sender.js";
import { createServed, type ServedChannel } from "./served.js";
import { createStates } from "./state.js";
import { createTurnstile } from "./turnstile.js";

/** The channels of one agent. */
export function createChannels(sources: ChannelSources): Channels {
  const { log } = sources;
  const openState = createStates(sources.state);
  const pending = new Set<Promise<unknown>>();
  let started: AgentGeneration | undefined;

  const served = createServed(sources, hostOf);
  const channels = () => served.current().channels;
  const conversations = createConversations(sources, (definition) =>
    [...channels().values()].find((channel) => channel.definition === definition),
  );
  const delivery = createDelivery(sources, channels, openState);
  const turnstile = createTurnstile();
  const intake = createIntake(sources, turnstile, (id) => channels().get(id), waitUntil);

  function hostOf(id: string, definition: ChannelDefinition, signal: AbortSignal): PackHost {
    return createPackHost({
      channel: { id, definition },
      signal,
      sources,
      conversations,
      accept: (...delivery) => intake.accept(id, ...delivery),
      waitUntil: (promise) => waitUntil(`channel "${id}"`, promise),
    });
  }

  /** Counts as work in flight until it settles; a failure is logged. */
  function waitUntil(what: string, promise: Promise<unknown>): void {
    const kept = Promise.resolve(promise)
      .catch((error: unknown) => log("error", `${what}: background work failed: ${messageOf(error)}`))
      .finally(() => pending.delete(kept));
    pending.add(kept);
  }

  async function argsOf(
    channel: ServedChannel,
    request: ChannelRequest,
    given: { readonly auth: SessionAuth; readonly body: unknown; readonly query: unknown },
    params: Readonly<Record<string, string>>,
  ): Promise<ChannelHandlerArgs> {
    const state = await openState(channel);
    return {
      ...given,
      params,
      get state() {
        return state.read();
      },
      setState: (next: JsonValue) => state.write(next),
      host: sources.services(undefined),
      artifacts: sources.artifacts({ record: undefined, turnId: undefined }),
      signal: request.signal,
      send: (message, options) => conversations.send(channel, given.auth, message, options),
      getSession: (id) => conversations.get(channel, id),
      receive: conversations.receive,
      setContinuationToken: (sessionId, key) => sources.sessions.rekey(channel.id, sessionId, key),
      waitUntil: (promise) => waitUntil(`channel "${channel.id}"`, promise),
    };
  }

  async function readInput(
    route: Route,
    request: ChannelRequest,
  ): Promise<{ readonly body: unknown; readonly query: unknown } | ChannelRefusal> {
    const { bodySchema, querySchema } = route;
    const packing = headerOf(request, "content-encoding") ?? "identity";
    const isPacked = packing !== "identity" && packing !== "";
    if (isPacked && bodySchema !== undefined) return refuse("invalid_request", `the body is packed (${packing})`);
    // Of a packed body the handler has the bytes.
    const type = isPacked ? "application/octet-stream" : headerOf(request, "content-type");
    const parsed = parseBody(await request.body(), type, bodySchema !== undefined);
    if ("is" in parsed) return parsed;
    const body = bodySchema === undefined ? parsed : await checkInput("body", bodySchema, parsed.value);
    if ("is" in body) return body;
    const { query: sent } = request;
    const query = querySchema === undefined ? { value: sent } : await checkInput("query", querySchema, sent);
    return "is" in query ? query : { body: body.value, query: query.value };
  }

  async function answer(
    channel: ServedChannel,
    route: Route,
    request: ChannelRequest,
    args: ChannelHandlerArgs,
  ): Promise<Response> {
    const handler = route.handler as (request: Request, args: ChannelHandlerArgs) => Response | Promise<Response>;
    const response: unknown = await handler.call(route, await toRequest(request), args);
    const what = `the handler of ${route.method} ${route.path} in channel "${channel.id}" returned`;
    if (!isResponse(response)) throw new TypeError(`${what} no Response`);
    const { status, body } = response;
    if (!(status >= 200 && status <= 599)) throw new TypeError(`${what} a Response with the status ${status}`);
    if (body?.locked) throw new TypeError(`${what} a Response whose body is read already`);
    return response;
  }

  return {
    ready: served.ready,

    async handle(asked): Promise<ChannelAnswer> {
      const slash = asked.path.indexOf("/");
      const id = slash < 0 ? asked.path : asked.path.slice(0, slash);
      const channel = channels().get(id);
      if (channel === undefined) return refuse("not_found", "no such channel");
      const { problem, pack } = channel;
      if (problem !== undefined) return { is: "failed", where: `channel "${id}"`, error: problem };
      const request = pack?.bodyLimit === undefined ? asked : withLimit(asked, pack.bodyLimit);
      const match = channel.route(request.method, slash < 0 ? "/" : request.path.slice(slash));
      if (match.is === "none") return refuse("not_found", `channel "${id}" has no such route`);
      if (match.is === "wrong-method") {
        const allow = match.allow.join(", ");
        return { ...refuse("method_not_allowed", `this route accepts ${allow}`), headers: { allow } };
      }
      const { route, params } = match;
      try {
        if (pack !== undefined) {
          const { status, body, isAsked = false } = await pack.ingress.take(request);
          if (request.isHosted && !isAsked) return { is: "accepted" };
          return { is: "told", status, ...(body !== undefined && { body }) };
        }
        const auth = await channel.gate.admit(request, () => toRequest(request));
        await request.meter?.("is" in auth ? undefined : auth);
        if ("is" in auth) return auth;
        const input = await readInput(route, request);
        if ("is" in input) return input;
        const args = await argsOf(channel, request, { auth, ...input }, params);
        if (!request.isHosted) return { is: "answered", response: await answer(channel, route, request, args) };
        waitUntil(`channel "${id}"`, answer(channel, route, request, args));
        return { is: "accepted" };
      } catch (error) {
        // Ours come through as they are: a store that is full is no fault of the handler.
        if (error instanceof Error && error.name === "RuntimeError") throw error;
        return { is: "failed", where: `channel "${id}": ${route.method} ${route.path}`, error };
      }
    },

    deliver: delivery.deliver,
    async recover() {
      intake.resume(channels().values());
      await delivery.recover();
    },
    receive: conversations.receive,
    pace: (signal) => turnstile.pass(signal),

    start() {
      const { of, signal } = served.current();
      if (started === of) return;
      started = of;
      delivery.start();
      for (const { id, definition, pack } of channels().values()) {
        const { services, artifacts } = sources;
        const args = {
          host: services(undefined),
          artifacts: artifacts({ record: undefined, turnId: undefined }),
          receive: conversations.receive,
          signal,
        };
        Promise.resolve()
          .then(() => pack?.onStart?.(args))
          .then(() => definition.onStart?.(args))
          .catch((error: unknown) => log("error", `onStart of channel "${id}" failed: ${messageOf(error)}`));
      }
    },

    async settled() {
      while (pending.size > 0) await Promise.all(pending);
    },
  };
}

/** The same request with another limit of its body. What it makes on demand stays on demand. */
function withLimit(request: ChannelRequest, limit: number): ChannelRequest {
  return Object.create(request, { body: { value: () => request.body(limit) } }) as ChannelRequest;
}

/** The request as it came, with its bytes untouched. */
async function toRequest({ method, url, rawHeaders, body, signal }: ChannelRequest): Promise<Request> {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  const bytes = method === "GET" ? undefined : await body();
  return new Request(url, {
    method,
    headers,
    signal,
    ...(bytes && bytes.length > 0 && { body: new Uint8Array(bytes) }),
  });
}

/** Also one of another copy of fetch, such as undici's own. */
function isResponse(value: unknown): value is Response {
  return typeof value === "object" && value !== null && "status" in value && "headers" in value && "body" in value;
}

function refuse(code: ChannelRefusal["code"], message: string): ChannelRefusal {
  return { is: "refused", code, message };
}
