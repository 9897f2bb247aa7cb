import { timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What the authorization server's redirect brought. */
export interface Callback {
  readonly params: URLSearchParams;
  /** Ends the browser's request with a page that says how it went. */
  answer(isGood: boolean, text: string): Promise<void>;
}

/** A page of this machine that waits for one redirect (RFC 8252 §7.3). */
export interface CallbackServer {
  readonly redirectUrl: string;
  /** Resolves with the redirect that has this state; others are turned away and change nothing. */
  received(state: string): Promise<Callback>;
  close(): void;
}

const path = "/callback";

/** Listens on the loopback interface only; port 0 takes any. */
export async function openCallback(port: number): Promise<CallbackServer> {
  const expected: { state?: string; take?: (callback: Callback) => void } = {};
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://127.0.0.1");
    if (pathname !== path || request.method !== "GET") return void respond(response, 404, "There is nothing here.");
    const state = searchParams.get("state");
    if (expected.state === undefined || state === null || !isSame(state, expected.state)) {
      return void respond(response, 400, "This is not the login that was begun here. Nothing has been changed.");
    }
    const { take } = expected;
    // Once: a second redirect with the same state is a replay.
    delete expected.state;
    take?.({
      params: searchParams,
      answer: (isGood, text) => respond(response, isGood ? 200 : 400, text),
    });
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    redirectUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    received: (state) =>
      new Promise((take) => {
        Object.assign(expected, { state, take });
      }),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function isSame(left: string, right: string): boolean {
  const [one, other] = [Buffer.from(left), Buffer.from(right)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function respond(response: ServerResponse, status: number, text: string): Promise<void> {
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    connection: "close",
  });
  const page = `<!doctype html><meta charset="utf-8"><title>bdk</title><body style="font:16px system-ui;margin:4rem">${text}</body>\n`;
  return new Promise((done) => response.end(page, done));
}
