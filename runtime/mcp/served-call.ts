import type { Caller } from "../session/service.js";
import type { McpCall } from "./endpoint.js";
import { type Fields, isFields, notification, type Request } from "./message.js";
import { type Era, logLevels, metaKeys } from "./protocol.js";
import type { Exchange } from "./serve.js";

/** One `tools/call` of a client, from its arrival to its end: what the client wants to hear, and whether it still does. */
export class ServedCall implements McpCall {
  readonly era: Era;
  readonly name: string;
  readonly args: Fields;
  readonly caller: Caller;
  readonly progress?: NonNullable<McpCall["progress"]>;
  readonly log?: NonNullable<McpCall["log"]>;
  readonly #exchange: Exchange;
  #controller: AbortController | undefined;
  #onClosing: (() => void) | undefined;
  #cancelled: Error | undefined;

  constructor(name: string, { params }: Request, era: Era, exchange: Exchange) {
    this.era = era;
    this.name = name;
    this.args = isFields(params.arguments) ? params.arguments : {};
    this.caller = exchange.caller;
    this.#exchange = exchange;
    if (!exchange.takesNotices) return;
    const meta = isFields(params._meta) ? params._meta : undefined;
    const token = meta?.[metaKeys.progressToken];
    if (typeof token === "string" || typeof token === "number") this.progress = this.#progressUnder(token);
    // Without sessions nobody can have set a level before 2026-07-28: those clients hear what `info` brings.
    const least = logLevels.indexOf(era === "modern" ? String(meta?.[metaKeys.logLevel]) : "info");
    if (least >= 0) this.log = this.#logFrom(least);
  }

  /** A connection that breaks off is a cancelled request since 2026-07-28, and was expressly none before. */
  get signal(): AbortSignal {
    if (this.era === "modern") return this.#exchange.gone;
    this.#controller ??= this.#watch();
    return this.#controller.signal;
  }

  get isTakenBack(): boolean {
    return this.era === "modern" ? this.#exchange.isGone : this.#cancelled !== undefined;
  }

  cancel(reason: Error): void {
    this.#cancelled = reason;
    this.#controller?.abort(reason);
  }

  /** Lets go of what it listened to. */
  end(): void {
    if (this.#onClosing !== undefined) this.#exchange.closing.removeEventListener("abort", this.#onClosing);
  }

  #watch(): AbortController {
    const { closing } = this.#exchange;
    const controller = new AbortController();
    const stop = () => controller.abort(closing.reason);
    // Asked for late, it may be over already: then no event comes any more.
    if (this.#cancelled !== undefined) controller.abort(this.#cancelled);
    else if (closing.aborted) stop();
    else {
      closing.addEventListener("abort", stop, { once: true });
      this.#onClosing = stop;
    }
    return controller;
  }

  #notify(method: string, params: Fields): void {
    if (this.#cancelled === undefined) this.#exchange.notify(notification(method, params));
  }

  #progressUnder(progressToken: string | number): NonNullable<McpCall["progress"]> {
    let last = Number.NEGATIVE_INFINITY;
    return (progress, total, message) => {
      // A value that does not grow is none: clients may take it for a fault.
      if (!(progress > last)) return;
      last = progress;
      this.#notify("notifications/progress", { progressToken, progress, total, message });
    };
  }

  #logFrom(least: number): NonNullable<McpCall["log"]> {
    return (level, data) => {
      if (logLevels.indexOf(level) >= least) this.#notify("notifications/message", { level, data });
    };
  }
}
