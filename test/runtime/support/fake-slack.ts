/**
 * Slack's side on loopback: a Web API that writes down what it is asked, in order, and a Socket Mode server. Plain HTTP
 * and `ws`, nothing of the runtime's.
 */
import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";

/** One call of the Web API. */
export interface SlackCall {
  readonly method: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly token: string | undefined;
}

/** What a method answers; a function may look at its arguments, or never resolve. */
type Answer = Readonly<Record<string, unknown>> | { readonly status: number; readonly retryAfter?: number };
type Responder = (args: SlackCall["args"], count: number) => Answer | undefined | Promise<Answer | undefined>;

export interface FakeSlack {
  /** Value for `SLACK_API_URL`. */
  readonly url: string;
  readonly calls: SlackCall[];
  /** Calls of methods other than `auth.test`, which tells who the app is. */
  said(): SlackCall[];
  /** Names of the methods called, in order, without `auth.test`. */
  methods(): string[];
  /** Calls of one method. */
  of(method: string): SlackCall[];
  /** Answers a method otherwise than with success; `undefined`: as usual. */
  answer(method: string, responder: Responder): void;
  /** Messages posted, by channel: what `conversations.replies` tells of. */
  readonly posted: Record<string, unknown>[];
  readonly socket: FakeSocket;
}

/** The Socket Mode side. */
export interface FakeSocket {
  /** Connections so far. */
  readonly connections: WebSocket[];
  /** What the app sent over any of them. */
  readonly received: Readonly<Record<string, unknown>>[];
  /** Sends an envelope over the newest connection. */
  send(envelope: Readonly<Record<string, unknown>>): void;
}

export const botUser = "U0BOT";

const open: { close(): void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

/** @param keep The server outlives the test that began it. */
export async function startFakeSlack(keep = false): Promise<FakeSlack> {
  const calls: SlackCall[] = [];
  const posted: Record<string, unknown>[] = [];
  const responders = new Map<string, Responder>();
  const connections: WebSocket[] = [];
  const received: Readonly<Record<string, unknown>>[] = [];
  const sockets = new WebSocketServer({ noServer: true });
  let clock = 1_700_000_000;
  let base = "";

  function succeed(method: string, args: SlackCall["args"]): Answer {
    const { channel } = args;
    switch (method) {
      case "auth.test":
        return { ok: true, user_id: botUser, bot_id: "B0BOT", team_id: "T1", url: "https://acme.slack.com/" };
      case "chat.postMessage": {
        clock += 1;
        const message = { ...args, ts: `${clock}.000100` };
        posted.push(message);
        return { ok: true, channel, ts: message.ts, message };
      }
      case "conversations.replies":
      case "conversations.history":
        return { ok: true, messages: posted.filter((each) => each.channel === channel) };
      case "conversations.info":
        return { ok: true, channel: { id: channel, name: "alerts" } };
      case "apps.connections.open":
        return { ok: true, url: `${base.replace("http:", "ws:")}/link/?ticket=t` };
      default:
        return { ok: true, channel, ts: args.ts };
    }
  }

  const server = createServer((request, response) => {
    void readArguments(request).then(async (args) => {
      const method = (request.url ?? "").replace("/api/", "");
      const { token: inBody, ...rest } = args;
      const inHeader = request.headers.authorization?.replace("Bearer ", "");
      const token = inHeader ?? (typeof inBody === "string" ? inBody : undefined);
      calls.push({ method, args: rest, token });
      const count = calls.filter((each) => each.method === method).length;
      const special = await responders.get(method)?.(rest, count);
      const answer = special ?? succeed(method, rest);
      if ("status" in answer && typeof answer.status === "number") {
        const wait = "retryAfter" in answer ? { "retry-after": String(answer.retryAfter) } : {};
        response.writeHead(answer.status, wait).end();
      } else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
    });
  });
  server.on("upgrade", (request, socket, head) => {
    sockets.handleUpgrade(request, socket, head, (connection) => {
      connections.push(connection);
      connection.on("message", (data) => received.push(JSON.parse(String(data)) as Record<string, unknown>));
      connection.send(JSON.stringify({ type: "hello", num_connections: 1 }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => {
    for (const connection of connections) connection.terminate();
    server.closeAllConnections();
    server.close();
  };
  if (!keep) open.push({ close });

  return {
    url: `${base}/api/`,
    calls,
    posted,
    said: () => calls.filter(({ method }) => method !== "auth.test"),
    methods: () => calls.map(({ method }) => method).filter((method) => method !== "auth.test"),
    of: (method) => calls.filter((each) => each.method === method),
    answer: (method, responder) => responders.set(method, responder),
    socket: {
      connections,
      received,
      send: (envelope) => connections.at(-1)?.send(JSON.stringify(envelope)),
    },
  };
}

/** Arguments of a call: a form whose values may be JSON, or JSON. */
async function readArguments(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString("utf8");
  if (request.headers["content-type"]?.startsWith("application/json"))
    return JSON.parse(body) as Record<string, unknown>;
  return Object.fromEntries(
    [...new URLSearchParams(body)].map(([name, value]) => [name, /^[[{]/.test(value) ? JSON.parse(value) : value]),
  );
}

export const signingSecret = "8f742231b10e8888abcd99yyyzzz85a5";

/** Headers of a request that Slack signed. */
export function signed(
  body: string,
  secret = signingSecret,
  at = Math.floor(Date.now() / 1_000),
): Record<string, string> {
  const signature = createHmac("sha256", secret).update(`v0:${at}:${body}`).digest("hex");
  return { "x-slack-request-timestamp": String(at), "x-slack-signature": `v0=${signature}` };
}

/** Sends an event as Slack does; gives the status. */
export async function sendEvent(
  url: string,
  payload: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  const body = JSON.stringify(payload);
  const response = await fetch(url, {
    method: "POST",
    body,
    headers: { "content-type": "application/json", ...signed(body), ...headers },
  });
  await response.text();
  return response.status;
}

/** Presses a button, as Slack tells of it. */
export async function pressButton(
  url: string,
  press: { value: string; actionId: string; ts: string },
): Promise<number> {
  const body = new URLSearchParams({ payload: JSON.stringify(pressPayload(press)) }).toString();
  const response = await fetch(url, {
    method: "POST",
    body,
    headers: { "content-type": "application/x-www-form-urlencoded", ...signed(body) },
  });
  await response.text();
  return response.status;
}

let serial = 0;

export function pressPayload({ value, actionId, ts }: { value: string; actionId: string; ts: string }) {
  serial += 1;
  return {
    type: "block_actions",
    trigger_id: `trigger.${serial}`,
    team: { id: "T1", domain: "acme" },
    user: { id: "U0ADA", username: "ada", team_id: "T1" },
    container: { type: "message", message_ts: ts, channel_id: "C0OPS" },
    actions: [{ type: "button", action_id: actionId, block_id: "b", value, action_ts: "1.1" }],
  };
}

/** An event as the Events API wraps it. */
export function envelope(event: Readonly<Record<string, unknown>>, id?: string) {
  serial += 1;
  return {
    token: "t",
    team_id: "T1",
    api_app_id: "A0APP",
    type: "event_callback",
    event_id: id ?? `Ev${serial}`,
    event_time: 1_700_000_000,
    authorizations: [{ team_id: "T1", user_id: botUser, is_bot: true }],
    event,
  };
}

export function mention(text: string, more: Readonly<Record<string, unknown>> = {}) {
  return {
    type: "app_mention",
    user: "U0ADA",
    text: `<@${botUser}> ${text}`,
    ts: "1700000000.000001",
    channel: "C0OPS",
    team: "T1",
    event_ts: "1700000000.000001",
    ...more,
  };
}

export function message(text: string, more: Readonly<Record<string, unknown>> = {}) {
  return {
    type: "message",
    channel_type: "channel",
    user: "U0ADA",
    text,
    ts: "1700000000.000001",
    channel: "C0OPS",
    team: "T1",
    event_ts: "1700000000.000001",
    ...more,
  };
}
