import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { RuntimeError } from "../errors.js";
import { readQuery } from "./body.js";
import { agentOf, type HttpHost, toAuthRequest } from "./context.js";
import { forwardedBase } from "./forwarded.js";
import { isHead } from "./head.js";
import { refuseWhileDraining } from "./session.js";

/**
 * Everything below `/v1/channels/`. One route: which channels and routes there are is asked of the running code with
 * each request, so that a swap changes them. Each channel has its own auth. Source: `http-api.md`.
 */
export function channelRoutes(app: FastifyInstance, host: HttpHost): void {
  app.register((channels, _options, done) => {
    // Bodies are read by hand, after the caller was admitted, and stay the bytes they are.
    channels.removeAllContentTypeParsers();
    channels.addContentTypeParser("*", (_request, payload, ready) => ready(null, payload));
    channels.route({
      method: ["GET", "POST", "PUT", "PATCH", "DELETE"],
      url: "/v1/channels/*",
      handler: (request, reply) => answerChannel(host, request, reply),
    });
    done();
  });
}

async function answerChannel(host: HttpHost, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  refuseWhileDraining(host);
  const { slug, channels } = agentOf(request);
  const path = request.url.split("?", 1)[0] ?? "";
  const gone = new AbortController();
  reply.raw.once("close", () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  const { meter } = host;
  let body: Promise<Buffer> | undefined;
  let signal: AbortSignal | undefined;
  const answer = await channels.handle({
    method: request.method,
    path: path.slice(path.indexOf("/v1/channels/") + "/v1/channels/".length),
    url: new URL(request.url, host.trustProxy ? forwardedBase(request, host.urlOf(slug)) : host.urlOf(slug)).href,
    query: readQuery(request),
    rawHeaders: request.raw.rawHeaders,
    ...toAuthRequest(host, request),
    hostAuth: host.auth,
    ...(meter && { meter: (auth) => meter(request, reply, auth) }),
    body: (limit = host.limits.bodyBytes) => {
      body ??= readBytes(request, limit);
      return body;
    },
    // Made for those who look at it only: it costs more than the rest of the request.
    get signal() {
      signal ??= AbortSignal.any([gone.signal, host.closing]);
      return signal;
    },
    isHosted: host.isHosted,
  });
  switch (answer.is) {
    case "answered":
      return sendResponse(host, answer.response, reply);
    case "told":
      return reply.code(answer.status).send(answer.body);
    case "accepted":
      return reply.code(202).send();
    case "refused":
      if (answer.headers) reply.headers(answer.headers);
      throw new RuntimeError(answer.code, answer.message, answer.details);
    case "failed": {
      host.log.error(answer.where, answer.error);
      const error = new RuntimeError("internal", "the server failed; its log says why");
      return reply.code(error.status).type("application/json; charset=utf-8").send(error.toBody());
    }
  }
}

/** The whole body; 413 as soon as it is known to be too large. */
async function readBytes(request: FastifyRequest, limit: number): Promise<Buffer> {
  const tooLarge = () => new RuntimeError("payload_too_large", `the body is larger than ${limit} bytes`);
  if (Number(request.headers["content-length"] ?? 0) > limit) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request.raw as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limit) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof RuntimeError) throw error;
    throw new RuntimeError("invalid_request", "the body broke off", {}, error);
  }
  return Buffer.concat(chunks, size);
}

const ownHeaders: ReadonlySet<string> = new Set(["set-cookie"]);
const fetchedHeaders: ReadonlySet<string> = new Set([
  "set-cookie",
  "content-encoding",
  "content-length",
  "transfer-encoding",
  "connection",
  "keep-alive",
]);

/** A handler's answer, streamed as it comes. */
function sendResponse(host: HttpHost, response: Response, reply: FastifyReply): FastifyReply {
  reply.code(response.status);
  // What was fetched elsewhere is unpacked already, and framed anew.
  const stale = response.url === "" ? ownHeaders : fetchedHeaders;
  for (const [name, value] of response.headers) if (!stale.has(name)) reply.header(name, value);
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) reply.header("set-cookie", cookies);
  if (response.body === null) return reply.send();
  if (isHead(reply.request.raw)) {
    // Nobody reads it, and it may never end.
    response.body.cancel().catch(() => undefined); // a source that can't be told to stop
    return reply.send(Readable.from([])); // of a length that nobody knows, as GET's
  }
  const stream = Readable.fromWeb(response.body as ReadableStream);
  stream.on("error", (error) => {
    if (!reply.raw.destroyed) host.log.error("a channel's answer broke off", error);
  });
  return reply.send(stream);
}
