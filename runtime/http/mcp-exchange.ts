import { setMaxListeners } from "node:events";
import type { FastifyReply, FastifyRequest } from "fastify";
import { RuntimeError } from "../errors.js";
import type { Reply } from "../mcp/message.js";
import type { Exchange } from "../mcp/serve.js";
import type { Caller } from "../session/service.js";

/** How long a call may be quiet before the client is shown that it is alive, in milliseconds; proxies cut at 60 s. */
const quietMs = 15_000;

/** Bytes that a slow client may leave unread before notices are dropped; its answer is not. */
const maxUnread = 1024 * 1024;

/**
 * One POST and its answer: plain JSON, or an event stream as soon as something has to be said before the answer (and the
 * client takes one).
 */
export class McpExchange implements Exchange {
  readonly headers: FastifyRequest["headers"];
  readonly caller: Caller;
  readonly notify?: (text: string) => void;
  readonly #reply: FastifyReply;
  readonly #closing: AbortSignal;
  readonly #takesJson: boolean;
  readonly #quiet: NodeJS.Timeout | undefined;
  #gone: AbortController | undefined;
  #hasBegun = false;
  #isOver = false;

  /** @throws RuntimeError `invalid_request` when the client takes neither form of answer */
  constructor(request: FastifyRequest, reply: FastifyReply, caller: Caller, closing: AbortSignal) {
    this.headers = request.headers;
    this.caller = caller;
    this.#reply = reply;
    this.#closing = closing;
    const { accept } = request.headers;
    this.#takesJson = accept === undefined || /application\/json|application\/\*|\*\/\*/i.test(accept);
    if (accept === undefined || !/text\/event-stream/i.test(accept)) {
      if (!this.#takesJson) throw new RuntimeError("invalid_request", "accept application/json and text/event-stream");
      return;
    }
    this.notify = (text) => {
      if (this.#isOver || this.#reply.raw.destroyed || this.#reply.raw.writableLength > maxUnread) return;
      this.#begin();
      this.#reply.raw.write(`event: message\ndata: ${text}\n\n`);
    };
    this.#quiet = setInterval(() => {
      if (this.#reply.raw.destroyed) return;
      this.#begin();
      this.#reply.raw.write(": waiting\n\n");
    }, quietMs);
  }

  /** Whether status and headers are out already. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get isGone(): boolean {
    return !this.#isOver && this.#reply.raw.destroyed;
  }

  signal(orGone: boolean): AbortSignal {
    if (!orGone) return this.#closing;
    this.#gone ??= this.#watch();
    return this.#gone.signal;
  }

  /** Nothing more is said before the answer. */
  release(): void {
    this.#isOver = true;
    clearInterval(this.#quiet);
  }

  /** Sends the answer, in the form that the exchange has by now. */
  finish({ status, body }: Reply): FastifyReply {
    this.release();
    const reply = this.#reply;
    if (!this.#hasBegun && (this.#takesJson || status !== 200 || body === undefined)) {
      reply.code(status);
      return body === undefined ? reply.send() : reply.type("application/json; charset=utf-8").send(body);
    }
    this.#begin();
    if (!reply.raw.destroyed) reply.raw.end(body === undefined ? undefined : `event: message\ndata: ${body}\n\n`);
    return reply;
  }

  #begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#reply.hijack();
    if (this.#reply.raw.destroyed) return;
    this.#reply.raw.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
      "x-content-type-options": "nosniff",
    });
  }

  #watch(): AbortController {
    const gone = new AbortController();
    const abort = () => gone.abort(new Error("the client gave up"));
    const { raw } = this.#reply;
    // Asked for late, it may be over already: then no event comes any more.
    if (this.#closing.aborted || this.isGone) abort();
    else {
      setMaxListeners(0, this.#closing); // one for each request that waits
      this.#closing.addEventListener("abort", abort, { once: true });
    }
    raw.once("close", () => {
      this.#closing.removeEventListener("abort", abort);
      if (!this.#isOver) abort();
    });
    return gone;
  }
}
