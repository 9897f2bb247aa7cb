/** One server's line: opened when it is needed, again after it broke, closed when nobody uses it. */
import { Client, type Tool } from "@modelcontextprotocol/client";
import { createRedactor } from "../host/redact.js";
import type { Caller } from "../session/service.js";
import type { ConnectionSources } from "./contract.js";
import { ConnectionError, loginCommand } from "./error.js";
import { explain, isStaleSession } from "./explain.js";
import { OutputSchemas } from "./output-schema.js";
import { type ConnectionSpec, isAllowed } from "./spec.js";
import { listTools } from "./tool-list.js";
import { makeTransport } from "./transport.js";
import { unlessAborted } from "./waiting.js";

/** How long a connection may take to open; programs may be fetched first (`npx`). Milliseconds. */
const openTimeoutMs = { http: 15_000, stdio: 60_000 } as const;

/** How long a server may take to list its tools, in milliseconds. */
const listTimeoutMs = 15_000;

/** How long a list counts when the server says nothing of it, in milliseconds. */
const listTtlMs = 60_000;

/** An unused line over HTTP is given up after this, in milliseconds. */
const idleMs = 300_000;

/** First wait after a failure, and the longest; it doubles between. Milliseconds. */
const backOff = { first: 500, longest: 60_000 } as const;

/** How long it is remembered that a server speaks an earlier revision, in milliseconds. */
const eraMs = 3_600_000;

/** What a timer can be set to; one that is set to more is over at once. Milliseconds. */
const longestTimeoutMs = 2 ** 31 - 1;

/** Pages of a list before the server is taken for one that never ends. */
const mostPages = 200;

/** What a server answered to a call, unchecked but for the protocol's own shape. */
export interface RawResult {
  readonly content: readonly Readonly<Record<string, unknown>>[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

interface Open {
  readonly client: Client;
  readonly clean: (text: string) => string;
}

export class Link {
  readonly spec: ConnectionSpec;
  /** A model step has waited for it in vain once: the next one does not, until it has answered. */
  hasWaited = false;
  readonly #sources: ConnectionSources;
  readonly #onBehalfOf: Caller["auth"];
  readonly #onIdle: () => void;
  #open: Promise<Open> | undefined;
  #list: { readonly tools: readonly Tool[]; readonly until: number } | undefined;
  #listing: Promise<readonly Tool[]> | undefined;
  /** How often the server has said that its list changed. */
  #changes = 0;
  #hasSaid = false;
  #failures = 0;
  #retryAt = 0;
  #lastFailure: ConnectionError | undefined;
  /** Until when the server is taken to speak an earlier revision only. */
  #legacyUntil = 0;
  #inUse = 0;
  #isRetired = false;
  #callOffIdle: () => void = () => undefined;
  /** Ends an opening that is under way. */
  #giveUpOpening: () => void = () => undefined;

  /** @param onIdle told when it has been closed because nobody used it */
  constructor(
    spec: ConnectionSpec,
    onBehalfOf: Caller["auth"],
    sources: ConnectionSources,
    onIdle: () => void = () => undefined,
  ) {
    this.#onIdle = onIdle;
    this.spec = spec;
    this.#onBehalfOf = onBehalfOf;
    this.#sources = sources;
  }

  /** Why the last attempt failed; `undefined` after one that succeeded. */
  get failure(): ConnectionError | undefined {
    return this.#lastFailure;
  }

  /** Whether a new attempt is to wait: the last ones failed, and not long ago. */
  get isResting(): boolean {
    return this.#lastFailure !== undefined && this.#sources.clock.now() < this.#retryAt;
  }

  /** Tools of the last list, allowed ones; empty before the first. */
  get known(): readonly Tool[] {
    return this.#list?.tools ?? [];
  }

  /** The tools that may be used; of the last list while that counts. */
  tools(): Promise<readonly Tool[]> {
    if (this.#list !== undefined && this.#sources.clock.now() < this.#list.until)
      return Promise.resolve(this.#list.tools);
    this.#listing ??= this.#fetchList().finally(() => {
      this.#listing = undefined;
    });
    return this.#listing;
  }

  async #fetchList(): Promise<readonly Tool[]> {
    const { clock } = this.#sources;
    const changes = this.#changes;
    const limits = { timeout: listTimeoutMs, pages: mostPages };
    const answer = await this.#use("list", ({ client }) => listTools(client, limits));
    const seen = new Set<string>();
    const tools = answer.tools.filter(({ name }) => {
      const isNew = !seen.has(name);
      seen.add(name);
      return isNew && name !== "" && isAllowed(this.spec, name);
    });
    const { ttlMs: told = 0 } = answer;
    const ttlMs = told > 0 ? Math.min(told, listTtlMs) : listTtlMs;
    this.#sayOnce(answer.refused, seen);
    // A change that was told meanwhile may not be in it.
    if (changes === this.#changes) this.#list = { tools, until: clock.now() + ttlMs };
    return tools;
  }

  /** A name that is allowed and that the server does not have is mistyped, or was renamed there. */
  #sayOnce(refused: readonly string[], found: ReadonlySet<string>): void {
    if (this.#hasSaid) return;
    this.#hasSaid = true;
    const { name, allow = [], reads, asks } = this.spec;
    if (refused.length > 0) {
      const what = `tools that the protocol does not allow, which are left out: ${refused.join(", ")}`;
      this.#sources.log("warn", `connection "${name}" lists ${what}`);
    }
    const wanted = new Set([...allow, ...reads, ...(asks === true ? [] : asks)]);
    const missing = [...wanted].filter((each) => !found.has(each));
    if (missing.length === 0) return;
    this.#sources.log("warn", `connection "${name}" names tools that its server does not have: ${missing.join(", ")}`);
  }

  /**
   * Calls a tool.
   *
   * @throws ConnectionError; `isUnknown` when the call may have taken effect
   */
  async call(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    options: { readonly signal?: AbortSignal | undefined; readonly timeoutMs?: number | undefined } = {},
  ): Promise<RawResult> {
    const { signal, timeoutMs = this.spec.timeoutMs } = options;
    const toolDefinition = this.known.find(({ name }) => name === tool);
    const result = await this.#use(
      "call",
      ({ client }) =>
        client.callTool(
          { name: tool, arguments: { ...args } },
          {
            timeout: Math.min(timeoutMs, longestTimeoutMs),
            ...(signal && { signal }),
            ...(toolDefinition && { toolDefinition }),
          },
        ),
      signal,
    );
    return result as RawResult;
  }

  /** Runs something over the open line. A session that the server has forgotten is begun anew: nothing ran in it. */
  async #use<T>(what: "list" | "call", run: (open: Open) => Promise<T>, signal?: AbortSignal): Promise<T> {
    this.#inUse += 1;
    this.#callOffIdle();
    try {
      let open = await unlessAborted(this.#opened(), signal);
      const fail = (error: unknown): ConnectionError => {
        const failure = withWayOut(explain(error, open.clean), this.spec);
        // A call that failed says nothing of the next one; if the line broke, opening it will tell.
        return what === "list" ? this.#failed(failure) : failure;
      };
      try {
        return await this.#settled(run(open));
      } catch (error) {
        if (!isStaleSession(error)) throw fail(error);
        await this.#drop(open);
        open = await this.#opened();
        return await this.#settled(run(open)).catch((again: unknown) => {
          throw fail(again);
        });
      }
    } finally {
      this.#inUse -= 1;
      this.#rest();
    }
  }

  async #settled<T>(running: Promise<T>): Promise<T> {
    const result = await running;
    this.#failures = 0;
    this.#lastFailure = undefined;
    return result;
  }

  /** Notes a failure: until some time has passed, nobody waits for this server. */
  #failed(told: ConnectionError): ConnectionError {
    const error = withWayOut(told, this.spec);
    this.#lastFailure = error;
    this.#failures += 1;
    const wait = Math.min(backOff.first * 2 ** (this.#failures - 1), backOff.longest);
    this.#retryAt = this.#sources.clock.now() + wait;
    return error;
  }

  #opened(): Promise<Open> {
    this.#open ??= this.#openNow().catch((error: unknown) => {
      this.#open = undefined;
      throw error;
    });
    return this.#open;
  }

  async #openNow(): Promise<Open> {
    const isLegacy = this.#sources.clock.now() < this.#legacyUntil;
    try {
      return await this.#connect(isLegacy);
    } catch (error) {
      const failure = error instanceof ConnectionError ? error : explain(error, (text) => text);
      // Servers there are that end at a request they don't know, before they are greeted.
      const mayBeOld = this.spec.way.is === "stdio" && !isLegacy && failure.code === "connection_unreachable";
      if (!mayBeOld || failure.isUnknown === false) throw this.#failed(failure);
      try {
        return await this.#connect(true);
      } catch (again) {
        throw this.#failed(again instanceof ConnectionError ? again : explain(again, (text) => text));
      }
    }
  }

  async #connect(isLegacy: boolean): Promise<Open> {
    const { spec } = this;
    const { version, clock } = this.#sources;
    const givenUp = new AbortController();
    const closed = new ConnectionError("connection_unreachable", "the connection was closed");
    this.#giveUpOpening = () => givenUp.abort(closed);
    const making = makeTransport(spec, this.#onBehalfOf, this.#sources);
    const { transport, secrets } = await unlessAborted(making, givenUp.signal);
    const clean = createRedactor(secrets);
    const timeout = spec.way.is === "stdio" ? openTimeoutMs.stdio : openTimeoutMs.http;
    const client = new Client(
      { name: "bdk", version },
      {
        listMaxPages: mostPages,
        jsonSchemaValidator: new OutputSchemas(),
        versionNegotiation: { mode: isLegacy ? "legacy" : "auto", probe: { timeoutMs: openTimeoutMs.http } },
        listChanged: {
          tools: {
            autoRefresh: false,
            debounceMs: 0,
            onChanged: () => {
              this.#changes += 1;
              this.#list = undefined;
            },
          },
        },
      },
    );
    client.onerror = (error) => {
      this.#sources.log("debug", clean(`connection "${spec.name}": ${error.message}`));
    };
    try {
      await unlessAborted(client.connect(transport, { timeout }), givenUp.signal);
    } catch (error) {
      await closeQuietly(client);
      await transport.close();
      throw explain(error, clean);
    }
    if (client.getProtocolEra?.() === "legacy") this.#legacyUntil = clock.now() + eraMs;
    const open: Open = { client, clean };
    client.onclose = () => {
      void this.#forget(open);
    };
    return open;
  }

  /** The line broke: the next use opens another. */
  async #forget(open: Open): Promise<void> {
    const current = await this.#open?.catch(() => undefined);
    if (current !== open) return;
    this.#open = undefined;
    this.#list = undefined;
  }

  async #drop(open: Open): Promise<void> {
    await this.#forget(open);
    await closeQuietly(open.client);
  }

  /** Nobody uses it just now: a line that is done with is closed, one over HTTP after a while. */
  #rest(): void {
    if (this.#inUse > 0) return;
    if (this.#isRetired) {
      void this.close();
      return;
    }
    if (this.spec.way.is === "stdio") return;
    this.#callOffIdle = this.#sources.clock.after(idleMs, () => {
      void this.close();
      this.#onIdle();
    });
  }

  /** The running code does not know it any more: it closes as soon as nobody uses it. */
  retire(): void {
    this.#isRetired = true;
    this.#rest();
  }

  /** In use again by the running code. */
  restore(): void {
    this.#isRetired = false;
  }

  async close(): Promise<void> {
    this.#callOffIdle();
    this.#giveUpOpening();
    const opening = this.#open;
    this.#open = undefined;
    this.#list = undefined;
    const open = await opening?.catch(() => undefined);
    if (open !== undefined) await closeQuietly(open.client);
  }
}

/** Who logged in can log in again. */
function withWayOut(error: ConnectionError, { name, kind, way }: ConnectionSpec): ConnectionError {
  const command = loginCommand({ name, kind });
  const isLogin = way.is === "http" && way.oauth && error.code === "connection_unauthorized";
  if (!isLogin || error.message.includes(command)) return error;
  return new ConnectionError(error.code, `${error.message}; to log in again, ${command}`, error);
}

/** A line that can't be closed properly is closed all the same. */
async function closeQuietly(client: Client): Promise<void> {
  await client.close().catch(() => undefined);
}
