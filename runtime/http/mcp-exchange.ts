import type { FastifyReply, FastifyRequest } from "fastify";
import { RuntimeError } from "../errors.js";
import type { Reply, RpcId } from "../mcp/message.js";
import type { Cancellable, RunningCalls } from "../mcp/running-calls.js";
import type { Exchange } from "../mcp/serve.js";
import type { Caller } from "../session/service.js";
import { callerOf } from "./context.js";

/** How long a call may be quiet before the client is shown that it is alive, in milliseconds; proxies cut at 60 s. */
const quietMs = 15_000;

/** Bytes that a slow client may leave unread before notices are dropped; its answer is not. */
const maxUnread = 1024 * 1024;

/** What a client takes, by its `Accept` header. Clients send the same one with each request. */
interface Forms {
  readonly accept: string | undefined;
  readonly json: boolean;
  readonly stream: boolean;
}

let lastForms = formsOf(undefined);

function formsOf(accept: string | undefined): Forms {
  const json = accept === undefined || /application\/json|application\/\*|\*\/\*/i.test(accept);
  return { accept, json, stream: accept !== undefined && /text\/event-stream/i.test(accept) };
}

/**
 * One POST and its answer: plain JSON, or an event stream as soon as something has to be said before the answer (and the
 * client takes one).
 */
export class McpExchange implements Exchange {
  readonly headers: FastifyRequest["headers"];
  readonly caller: Caller;
  readonly closing: AbortSignal;
  readonly #reply: FastifyReply;
  readonly #calls: RunningCalls;
  readonly #forms: Forms;
  #quiet: NodeJS.Timeout | undefined;
  #gone: AbortController | undefined;
  #hasBegun = false;
  #isOver = false;

  /** @throws RuntimeError `invalid_request` when the client takes neither form of answer */
  constructor(request: FastifyRequest, reply: FastifyReply, closing: AbortSignal, calls: RunningCalls) {
    this.headers = request.headers;
    this.caller = callerOf(request);
    this.closing = closing;
    this.#reply = reply;
    this.#calls = calls;
    const { accept } = this.headers;
    if (lastForms.accept !== accept) lastForms = formsOf(accept);
    this.#forms = lastForms;
    if (!lastForms.json && !lastForms.stream) {
      throw new RuntimeError("invalid_request", "accept application/json and text/event-stream");
    }
  }

  get takesNotices(): boolean {
    return this.#forms.stream;
  }

  notify(text: string): void {
    if (!this.takesNotices || this.#isOver) return;
    if (this.#reply.raw.destroyed || this.#reply.raw.writableLength > maxUnread) return;
    this.#begin();
    this.#reply.raw.write(`event: message\ndata: ${text}\n\n`);
  }

  /** Shows the client from time to time that it is not forgotten; for an answer that is not there at once. */
  keepAlive(): void {
    if (!this.takesNotices) return;
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

  get gone(): AbortSignal {
    this.#gone ??= this.#watch();
    return this.#gone.signal;
  }

  begin(id: RpcId, call: Cancellable): () => void {
    return this.#calls.begin(this.caller, id, call);
  }

  cancel(id: unknown): void {
    this.#calls.cancel(this.caller, id);
  }

  /** Nothing more is said before the answer. */
  release(): void {
    this.#isOver = true;
    clearInterval(this.#quiet);
  }

  /** Sends the answer, in the form that the exchange has by now. */
  finish({ status, body, isUnwanted }: Reply): void {
    this.release();
    const reply = this.#reply;
    const { json, stream } = this.#forms;
    const asStream = this.#hasBegun || (stream && isUnwanted === true) || (!json && status === 200);
    if (!asStream) {
      reply.code(status);
      if (body === undefined) reply.send();
      else reply.type("application/json; charset=utf-8").send(body);
      return;
    }
    this.#begin();
    if (reply.raw.destroyed) return;
    if (body === undefined || isUnwanted === true) reply.raw.end();
    else reply.raw.end(`event: message\ndata: ${body}\n\n`);
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
    if (this.closing.aborted || this.isGone) abort();
    else this.closing.addEventListener("abort", abort, { once: true });
    raw.once("close", () => {
      this.closing.removeEventListener("abort", abort);
      if (!this.#isOver) abort();
    });
    return gone;
  }
}
