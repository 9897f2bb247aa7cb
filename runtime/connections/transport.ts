/** How a connection reaches its server: the transport, made anew each time it opens, with everything filled in. */
import { isAbsolute, join } from "node:path";
import { SSEClientTransport, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { createRedactor } from "../host/redact.js";
import type { Caller } from "../session/service.js";
import { noteToken } from "./auth.js";
import { boundedFetch } from "./bounded-fetch.js";
import type { ConnectionSources } from "./contract.js";
import { ConnectionError, loginCommand } from "./error.js";
import { inOneLine } from "./explain.js";
import { type ConnectionSpec, type Filled, fillFrom } from "./spec.js";
import { StdioTransport } from "./stdio.js";

/** How many agents may ask one another, one on behalf of the next. */
const mostHops = 8;

/** A transport that has not been started, and the values that must never be shown. */
export interface Opening {
  readonly transport: Transport;
  readonly secrets: readonly string[];
}

/**
 * Makes the transport of a connection.
 *
 * @param onBehalfOf whose request a peer gets
 * @throws ConnectionError when a variable is unset, nobody has logged in, or the peer isn't there
 */
export async function makeTransport(
  spec: ConnectionSpec,
  onBehalfOf: Caller["auth"],
  sources: ConnectionSources,
): Promise<Opening> {
  const { way } = spec;
  const filled = fillFrom(sources.environment);
  switch (way.is) {
    case "http":
      return openHttp(spec, way, filled, sources);
    case "stdio": {
      const env = filled.record(way.env);
      filled.check();
      if (way.dataDir !== undefined) await sources.makeFolder(way.dataDir);
      // Known here only: that a value is secret can't always be told from a variable's name.
      const clean = createRedactor(filled.secrets);
      const onLine = (line: string) => sources.log("info", `connection "${spec.name}": ${clean(inOneLine(line))}`);
      const cwd = way.cwd === undefined ? sources.base : isAbsolute(way.cwd) ? way.cwd : join(sources.base, way.cwd);
      const transport = new StdioTransport({ command: way.command, args: way.args, env, cwd, onLine });
      return { transport, secrets: [...filled.secrets, ...Object.values(way.env)] };
    }
    case "peer": {
      const peer = sources.peer(way.slug);
      if (peer === undefined) {
        throw new ConnectionError("connection_unreachable", `no agent "${way.slug}" is mounted on this host`);
      }
      // Each agent that is asked may ask on: without an end to it, two could go round in circles for ever.
      if ((onBehalfOf.hops ?? 0) >= mostHops) {
        throw new ConnectionError("connection_refused", `agents have asked one another ${mostHops} times over already`);
      }
      // The pass is made for each request: it names the principal, and is good for a moment only.
      const fetchAs = (url: string | URL, init?: RequestInit): Promise<Response> => {
        const headers = new Headers(init?.headers);
        for (const [name, value] of Object.entries(peer.pass(onBehalfOf))) headers.set(name, value);
        return fetch(url, { ...init, headers });
      };
      const options = { fetch: boundedFetch(fetchAs) };
      return { transport: new StreamableHTTPClientTransport(new URL(peer.url), options), secrets: [] };
    }
    case "broken":
      throw new ConnectionError("connection_unreachable", way.reason);
  }
}

async function openHttp(
  spec: ConnectionSpec,
  way: Extract<ConnectionSpec["way"], { is: "http" }>,
  filled: Filled,
  sources: ConnectionSources,
): Promise<Opening> {
  const written = filled.text(way.url);
  const headers = filled.record(way.headers);
  filled.check();
  if (!URL.canParse(written) || !/^https?:/.test(written)) {
    throw new ConnectionError("connection_unreachable", "its url, with variables filled in, is no http or https URL");
  }
  const url = new URL(written);
  const ofUrl = secretsOfUrl(url);
  if (!way.oauth) moveLogin(url, headers);
  const { name, kind } = spec;
  const authProvider = way.oauth
    ? await sources.authProvider?.({ name, kind, url: written, settings: way.settings })
    : undefined;
  if (way.oauth && authProvider === undefined) {
    throw new ConnectionError("connection_unauthorized", `nobody has logged in: ${loginCommand({ name, kind })}`);
  }
  const plain = boundedFetch();
  const options = {
    fetch: async (input: string | URL, init?: RequestInit) => {
      const response = await plain(input, init);
      noteToken(response, new Headers(init?.headers));
      return response;
    },
    requestInit: { headers },
    ...(authProvider !== undefined && { authProvider }),
  };
  // Both follow redirects within the server's own origin only: credentials go nowhere else.
  const transport = way.sse
    ? new SSEClientTransport(url, options)
    : new StreamableHTTPClientTransport(url, { ...options, onInsufficientScope: "throw" });
  const secrets = [...filled.secrets, ...Object.values(headers), ...Object.values(way.settings)];
  return { transport, secrets: [...secrets, ...ofUrl] };
}

/** A user and a password in a URL, which `fetch` does not take, go where they are sent anyway. */
function moveLogin(url: URL, headers: Record<string, string>): void {
  const { username, password } = url;
  if (username === "" && password === "") return;
  url.username = "";
  url.password = "";
  if (Object.keys(headers).some((name) => name.toLowerCase() === "authorization")) return;
  headers.authorization = `Basic ${Buffer.from(`${decode(username)}:${decode(password)}`).toString("base64")}`;
}

/** A password or a key in a URL is as secret as one in a header. */
function secretsOfUrl(url: URL): string[] {
  const { username, password, searchParams } = url;
  return [username, password, decode(username), decode(password), ...searchParams.values()].filter(
    (value) => value !== "",
  );
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Written with a bare percent sign: shown as it is, if at all.
    return text;
  }
}
