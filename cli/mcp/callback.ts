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
  /**
   * Takes the address that a browser ended at which can't reach this machine, as if it had come here.
   *
   * @returns false when it is not the answer to this login; that changes nothing
   */
  paste(address: string): boolean;
  close(): void;
}

const path = "/callback";

/** Listens on the loopback interface only; port 0 takes any. */
export async function openCallback(port: number): Promise<CallbackServer> {
  const expected: { state?: string; take?: (callback: Callback) => void } = {};
  /** Whoever waits for a redirect with these parameters, once: a second one with the same state is a replay. */
  function claim(params: URLSearchParams): ((callback: Callback) => void) | undefined {
    const { take } = expected;
    const state = params.get("state");
    if (expected.state === undefined || state === null || !isSame(state, expected.state)) return undefined;
    delete expected.state;
    return take;
  }

  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://127.0.0.1");
    if (pathname !== path || request.method !== "GET") return void respond(response, 404, "There is nothing here.");
    const take = claim(searchParams);
    if (take === undefined) {
      return void respond(response, 400, "This is not the login that was begun here. Nothing has been changed.");
    }
    take({ params: searchParams, answer: (isGood, text) => respond(response, isGood ? 200 : 400, text) });
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const redirectUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  return {
    redirectUrl,
    received: (state) =>
      new Promise((take) => {
        Object.assign(expected, { state, take });
      }),
    paste(address) {
      if (!URL.canParse(address)) return false;
      const { origin, pathname, searchParams: params } = new URL(address);
      const take = origin + pathname === redirectUrl ? claim(params) : undefined;
      take?.({ params, answer: async () => undefined });
      return take !== undefined;
    },
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
