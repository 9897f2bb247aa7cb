/** Socket Mode: the app calls Slack, and needs no address of its own. */
import { setTimeout as delay } from "node:timers/promises";
import type { SocketModeClient } from "@slack/socket-mode";
import type { PackHost } from "../packs.js";
import { reasonOf, type SlackCredentials, toLogger, withApiUrl } from "./client.js";
import { fields } from "./fields.js";
import type { TakeIn } from "./ingress.js";

/** A connection that held so long, in milliseconds, was a good one. */
const goodMs = 10_000;
const longestWaitMs = 30_000;
const helloWithinMs = 30_000;

/** What comes over the socket. */
interface SocketEnvelope {
  readonly type: string;
  readonly body: unknown;
  readonly ack: (response?: Readonly<Record<string, unknown>>) => Promise<void>;
}

/**
 * Keeps a connection open until the signal aborts. Slack closes connections every few hours, and asks for it before;
 * what came in between is sent again over the next one.
 */
export async function runSocketMode(
  host: Pick<PackHost, "id" | "log" | "signal">,
  credentials: SlackCredentials,
  takeIn: TakeIn,
): Promise<void> {
  const { log, signal, id } = host;
  // Loaded here, so that a bot that is called over HTTP never runs it.
  const { SocketModeClient: Client } = await import("@slack/socket-mode");
  let failures = 0;
  while (!signal.aborted) {
    const startedAt = Date.now();
    try {
      const client = new Client({
        appToken: credentials.appToken ?? "",
        logger: toLogger(log),
        // Its own way back gives up when Slack can't be reached, and rejects where nobody listens.
        autoReconnectEnabled: false,
        clientOptions: { retryConfig: { retries: 0 }, timeout: helloWithinMs, ...withApiUrl(credentials.apiUrl) },
      });
      client.on("slack_event", (envelope: SocketEnvelope) => {
        receive(envelope, takeIn).catch((error: unknown) =>
          log("error", `channel "${id}": an event could not be taken, Slack sends it again: ${reasonOf(error)}`),
        );
      });
      await connect(client, signal, () => log("info", `channel "${id}": connected to Slack (Socket Mode)`));
    } catch (error) {
      if (!signal.aborted) log("warn", `channel "${id}": no connection to Slack: ${reasonOf(error)}`);
    }
    failures = Date.now() - startedAt > goodMs ? 0 : failures + 1;
    const wait = failures === 0 ? 0 : Math.min(longestWaitMs, 250 * 2 ** failures) * (0.75 + Math.random() / 2);
    await delay(wait, undefined, { signal, ref: false }).catch(() => undefined); // an abort ends the loop
  }
}

/** Resolves when a connection that stood is gone; rejects when none came to stand. */
async function connect(client: SocketModeClient, signal: AbortSignal, onConnected: () => void): Promise<void> {
  let isUnwanted = false;
  const close = () => {
    isUnwanted = true;
    client.disconnect().catch(() => undefined); // it is gone either way
  };
  signal.addEventListener("abort", close, { once: true });
  const late = setTimeout(close, helloWithinMs).unref();
  try {
    const gone = new Promise<void>((resolve) => client.once("disconnected", () => resolve()));
    await client.start().catch((error: unknown) => {
      throw error ?? new Error("it was closed before Slack said hello");
    });
    clearTimeout(late);
    // It may have come to stand after nobody wanted it any more.
    if (isUnwanted) return close();
    onConnected();
    await gone;
  } finally {
    clearTimeout(late);
    signal.removeEventListener("abort", close);
  }
}

/** Acknowledged when it is safe. What is of no interest is acknowledged too, or Slack would send it again. */
async function receive({ type, body, ack }: SocketEnvelope, takeIn: TakeIn): Promise<void> {
  if (type === "events_api" || type === "interactive") await takeIn(fields(body));
  await ack();
}
