/**
 * `--standby`: a second server on a state root waits while another has it, and takes over when that one ends or dies.
 * The project's code is loaded and the address is listened on while it waits. Decisions 38 and 0016.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { RuntimeError } from "../errors.js";
import { isMcpPath } from "../http/mcp.js";
import { errorReply } from "../mcp/message.js";
import { codes } from "../mcp/protocol.js";
import { idOfNobody } from "../mcp/receive.js";
import { storeHolder } from "../storage/lock.js";
import { StartupError } from "./environment.js";
import { toStartupError, urlOfAddress } from "./listen.js";
import type { HostLog } from "./log.js";
import type { HostOptions } from "./options.js";
import type { ServerFactory } from "./tls.js";

/** How often the holder is looked at, in milliseconds. */
const lookMs = 200;

/** How long an address may stay taken after the take-over, in milliseconds: the other server may be closing still. */
const portGraceMs = 20_000;

/** The waiting was given up: nothing was started. */
export class StandbyStopped extends Error {
  override readonly name = "StandbyStopped";
}

export interface StandbyOptions extends Pick<HostOptions, "standby" | "onStandby" | "signal"> {
  /** Folders whose locks have to be free. */
  readonly roots: () => readonly string[];
  readonly address: string;
  readonly port: number;
  readonly serverFactory?: ServerFactory;
  /** What `/v1/health` says besides. */
  readonly health: { readonly version: string; readonly manifestHash: string };
  readonly log: HostLog;
}

export interface Standby {
  /** Opens the stores, at once or when their holder is gone. Rejects with `StandbyStopped` when the signal aborts. */
  open<T>(open: () => Promise<T>): Promise<T>;
  /** Lets go of the address and gives the port to listen on; then `listen` may find it taken for a moment. */
  handOver<T>(listen: (port: number) => Promise<T>): Promise<T>;
}

export function createStandby(options: StandbyOptions): Standby {
  const { address, port, log, signal } = options;
  const holder = (): number | undefined => {
    for (const root of options.roots()) {
      const pid = storeHolder(root);
      if (pid !== undefined) return pid;
    }
    return undefined;
  };
  let waiting: { readonly server: Server | undefined } | undefined;

  /** Looked at twice once we wait: for an instant a lock may be gone while others settle whose it is. */
  async function steadyHolder(): Promise<number | undefined> {
    const pid = holder();
    if (pid !== undefined || waiting === undefined) return pid;
    await pause(Math.random() * lookMs, signal);
    return holder();
  }

  /** Listens with an answer for everyone; `undefined` while the address is another's. */
  async function answer(): Promise<Server | undefined> {
    const make = options.serverFactory ?? createServer;
    const server = make(answerWaiting(options.health, holder));
    server.listen(port, address);
    try {
      await once(server, "listening");
      return server;
    } catch (error) {
      const failure = toStartupError(error, address, port);
      if (isTaken(failure)) return undefined;
      throw failure;
    }
  }

  async function begin(pid: number): Promise<void> {
    const server = await answer();
    waiting = { server };
    const scheme = options.serverFactory === undefined ? "http" : "https";
    const url = server === undefined ? undefined : urlOfAddress(server.address() as AddressInfo, scheme);
    log.info(
      `standing by: process ${pid} serves this state root${url === undefined ? `; port ${port} is taken, so nothing is answered meanwhile` : ""}`,
    );
    options.onStandby?.({ pid, ...(url !== undefined && { url }) });
  }

  async function letGo(): Promise<number> {
    const server = waiting?.server;
    if (server === undefined) return port;
    const bound = (server.address() as AddressInfo).port;
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
    return bound;
  }

  async function stop(): Promise<never> {
    await letGo();
    throw new StandbyStopped("the waiting was given up");
  }

  return {
    async open(open) {
      if (options.standby !== true) return open();
      for (;;) {
        if (signal?.aborted === true) await stop();
        const pid = await steadyHolder();
        if (pid === undefined) {
          try {
            const opened = await open();
            if (waiting !== undefined) log.info("taking over");
            return opened;
          } catch (error) {
            // Another one that stood by was faster.
            if (!(error instanceof RuntimeError && error.code === "storage_unavailable" && holder() !== undefined)) {
              await letGo();
              throw error;
            }
          }
        } else if (waiting === undefined) await begin(pid);
        await pause(lookMs, signal);
      }
    },

    async handOver(listen) {
      if (waiting === undefined) return listen(port);
      const bound = await letGo();
      const end = Date.now() + portGraceMs;
      for (;;) {
        try {
          return await listen(bound);
        } catch (error) {
          if (!isTaken(error) || Date.now() > end) throw error;
        }
        await pause(lookMs, signal);
      }
    },
  };
}

/** Alive, and not ready: 503 for everything but the question whether it lives. */
function answerWaiting(health: StandbyOptions["health"], holder: () => number | undefined): RequestListener {
  return (request: IncomingMessage, response) => {
    const path = request.url?.split("?", 1)[0] ?? "";
    const isHealth = /^(?:\/[^/]+)?\/v1\/health\/?$/.test(path);
    const text = isHealth
      ? JSON.stringify({ ok: true, ...health, standby: true })
      : refusal(path, request.headers["mcp-protocol-version"], holder());
    response.writeHead(isHealth ? 200 : 503, {
      "content-type": "application/json; charset=utf-8",
      "content-length": Buffer.byteLength(text),
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      connection: "close",
      ...(!isHealth && { "retry-after": "1" }),
    });
    response.end(text);
  };
}

/** What is told of anything but the health: in the form that a client of the path understands. */
function refusal(path: string, mcpVersion: unknown, holder: number | undefined): string {
  const error = "storage_unavailable";
  const message = `this server stands by; process ${holder ?? "?"} serves this state`;
  if (!isMcpPath(path)) return JSON.stringify({ ok: false, error, message, standby: true });
  // No body is read here, so the request's id is not known.
  const id = idOfNobody(mcpVersion);
  return errorReply(503, id, codes.internal, message, { error, standby: true }).body;
}

function isTaken(error: unknown): boolean {
  return error instanceof StartupError && error.code === "EADDRINUSE";
}

/** Sleeps, keeping the process alive; less when the signal aborts. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done);
  });
}
