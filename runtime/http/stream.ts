import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { readEnum, readIndex, readQuery, readSessionId } from "./body.js";
import { agentOf, callerOf, type HttpHost } from "./context.js";
import { isHead } from "./head.js";
import { sessionUrls } from "./session.js";
import { type LineBatches, writeLines } from "./write-lines.js";

const indexes = { min: 0, max: Number.MAX_SAFE_INTEGER };
const ndjson = "application/x-ndjson; charset=utf-8";

/** The live feed and the one-shot dump of a session's events. Source: `http-api.md`, decision 22. */
export function streamRoutes(app: FastifyInstance, host: HttpHost): void {
  app.get("/v1/session/:sessionId/stream", async (request, reply) => {
    const isEventStream = accepts(request, "text/event-stream");
    const startIndex = readStartIndex(request);
    const leaving = new AbortController();
    reply.raw.once("close", () => leaving.abort());
    const signal = AbortSignal.any([leaving.signal, host.closing]);
    const sessions = agentOf(request).sessions;
    const batches = await sessions.follow(callerOf(request), readSessionId(request), startIndex, signal);
    const contentType = isEventStream ? "text/event-stream; charset=utf-8" : ndjson;
    return send(host, request, reply, contentType, batches, isEventStream ? toServerSentEvents : toNdjson, {
      signal,
      ...(isEventStream && { keepAlive: ": keep-alive\n\n" }),
    });
  });

  app.get("/v1/session/:sessionId/events", async (request, reply) => {
    const query = readQuery(request);
    const format = readEnum(query, "format", ["ndjson", "json"]) ?? "ndjson";
    const startIndex = readIndex(query, "startIndex", indexes) ?? 0;
    const agent = agentOf(request);
    const sessionId = readSessionId(request);
    const batches = await agent.sessions.read(callerOf(request), sessionId, startIndex);
    const { closing: signal } = host;
    if (format === "ndjson") {
      return send(host, request, reply, ndjson, batches, toNdjson, { signal, isDump: true });
    }
    const { playgroundUrl } = sessionUrls(host, agent, sessionId);
    const before = `{"sessionId":${JSON.stringify(sessionId)},"events":[`;
    const after = playgroundUrl === undefined ? "]}" : `],"playgroundUrl":${JSON.stringify(playgroundUrl)}}`;
    return send(host, request, reply, "application/json; charset=utf-8", batches, toList(), {
      signal,
      isDump: true,
      before,
      after,
    });
  });
}

/** `startIndex`, or the event after `Last-Event-ID` when an EventSource reconnects with the URL it began with. */
function readStartIndex(request: FastifyRequest): number {
  const startIndex = readIndex(readQuery(request), "startIndex", indexes) ?? 0;
  const last = readIndex({ "Last-Event-ID": request.headers["last-event-id"] }, "Last-Event-ID", indexes);
  return last === undefined ? startIndex : last + 1;
}

async function send(
  host: HttpHost,
  request: FastifyRequest,
  reply: FastifyReply,
  contentType: string,
  batches: LineBatches,
  render: (lines: readonly string[]) => string,
  options: { signal: AbortSignal; keepAlive?: string; before?: string; after?: string; isDump?: boolean },
): Promise<FastifyReply> {
  reply.header("content-type", contentType).header("x-accel-buffering", "no");
  if (isHead(request.raw)) return reply.send();
  // What is there already can be looked at before it is promised; a live stream opens at once.
  const ready = options.isDump === true ? await primed(batches) : batches;
  reply.hijack();
  try {
    await writeLines(reply, ready, render, options);
  } catch (error) {
    // The head is out: the only honest answer left is a broken connection, which a client sees and retries.
    host.log.error(`${request.method} ${request.url.split("?", 1)[0]} broke off`, error);
    reply.raw.destroy();
  }
  return reply;
}

/** The same batches with the first one read: what fails at once fails here. */
async function primed(batches: LineBatches): Promise<LineBatches> {
  const iterator = batches[Symbol.asyncIterator]();
  const first = await iterator.next();
  return (async function* () {
    try {
      for (let next = first; next.done !== true; next = await iterator.next()) yield next.value;
    } finally {
      await iterator.return?.();
    }
  })();
}

function toNdjson(lines: readonly string[]): string {
  return `${lines.join("\n")}\n`;
}

/** Unnamed events, so that `EventSource.onmessage` gets every one; `id` is the event's index. */
function toServerSentEvents(lines: readonly string[]): string {
  return lines.map((line) => `id: ${indexOf(line)}\ndata: ${line}\n\n`).join("");
}

function toList(): (lines: readonly string[]) => string {
  let isFirst = true;
  return (lines) => {
    const text = `${isFirst ? "" : ","}${lines.join(",")}`;
    isFirst = false;
    return text;
  };
}

function indexOf(line: string): number {
  const { index } = JSON.parse(line) as { index: number };
  return index;
}

function accepts(request: FastifyRequest, type: string): boolean {
  const { accept } = request.headers;
  return accept?.split(",").some((each) => each.split(";", 1)[0]?.trim().toLowerCase() === type) ?? false;
}
