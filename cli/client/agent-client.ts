import type { LogLine } from "../../runtime/host/options.js";
import type { SessionEvent } from "../../runtime/session/event.js";
import type { SessionPage, SessionSummary } from "../../runtime/session/service.js";
import type { SessionCost } from "../../runtime/session/views/cost.js";
import { failure } from "../exit.js";

/** One agent of a running server, over its public HTTP API. */
export interface AgentClient {
  /** `http://127.0.0.1:3000/my-agent`, without a trailing slash. */
  readonly url: string;
  createSession(body: SessionRequest): Promise<{ readonly sessionId: string; readonly continuationToken: string }>;
  /** Events from the first on, until the reader stops or the server ends the stream. */
  follow(sessionId: string, signal?: AbortSignal): AsyncGenerator<SessionEvent>;
  /** Interrupts the turn that runs. */
  stop(sessionId: string): Promise<void>;
  callTool(name: string, input: unknown): Promise<ToolAnswer>;
  /** Newest first; all of them when there is no limit. */
  sessions(limit: number | undefined): Promise<readonly SessionSummary[]>;
  /** What is recorded so far. */
  events(sessionId: string): Promise<readonly SessionEvent[]>;
  cost(sessionId: string): Promise<SessionCost>;
  info(): Promise<{ readonly agents: readonly Readonly<Record<string, unknown>>[] }>;
  logs(after: number): Promise<{ readonly lines: readonly LogLine[]; readonly next: number }>;
}

export interface SessionRequest {
  readonly message: string;
  readonly title?: string;
  readonly dryRun?: boolean;
}

export interface ToolAnswer {
  readonly ok: true;
  readonly toolName: string;
  readonly callId: string;
  readonly isError: boolean;
  readonly result: unknown;
  readonly durationMs: number;
}

/** A failed answer, `{ ok: false, error, message?, … }`. */
interface ErrorBody {
  readonly error: string;
  readonly message?: string;
  readonly available?: readonly string[];
  readonly issues?: readonly { readonly path?: readonly (string | number)[] | string; readonly message?: string }[];
}

/** @param bearerToken sent as `Authorization: Bearer …` */
export function createAgentClient(url: string, bearerToken: string | undefined): AgentClient {
  const headers = bearerToken === undefined ? {} : { authorization: `Bearer ${bearerToken}` };

  async function request(path: string, init: RequestInit = {}): Promise<Response> {
    const response = await reach(`${url}${path}`, { ...init, headers: { ...headers, ...init.headers } });
    if (response.ok) return response;
    throw refusal(url, response.status, await response.text());
  }
  const post = async (path: string, body: unknown) => {
    const response = await request(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return response.json();
  };

  const get = async (path: string) => (await request(path)).json();

  async function sessions(limit = Number.POSITIVE_INFINITY): Promise<readonly SessionSummary[]> {
    const found: SessionSummary[] = [];
    let cursor: string | undefined;
    do {
      const size = Math.min(500, limit - found.length);
      const after = cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const page = (await get(`/v1/sessions?limit=${size}${after}`)) as SessionPage;
      found.push(...page.sessions);
      cursor = page.nextCursor;
    } while (cursor !== undefined && found.length < limit);
    return found;
  }

  return {
    url,
    sessions,
    events: async (sessionId) => {
      const body = await get(`/v1/session/${encodeURIComponent(sessionId)}/events?format=json`);
      return (body as { readonly events: readonly SessionEvent[] }).events;
    },
    cost: async (sessionId) => {
      const { sessionId: _, ...cost } = (await get(
        `/v1/session/${encodeURIComponent(sessionId)}/cost`,
      )) as SessionCost & {
        readonly sessionId: string;
      };
      return cost;
    },
    info: async () => (await get("/v1/info")) as Awaited<ReturnType<AgentClient["info"]>>,
    logs: async (after) => (await get(`/v1/logs?after=${after}`)) as Awaited<ReturnType<AgentClient["logs"]>>,
    createSession: async (body) =>
      (await post("/v1/session", body)) as Awaited<ReturnType<AgentClient["createSession"]>>,
    stop: async (sessionId) => void (await post(`/v1/session/${encodeURIComponent(sessionId)}/stop`, {})),
    callTool: async (name, input) => (await post(`/v1/tools/${encodeURIComponent(name)}`, { input })) as ToolAnswer,
    async *follow(sessionId, signal) {
      let next = 0;
      // A dev server that restarts drops the stream; the log is durable, so we go on where we were.
      for (let attempt = 0; ; attempt++) {
        const response = await request(
          `/v1/session/${encodeURIComponent(sessionId)}/stream?startIndex=${next}`,
          signal ? { signal } : {},
        );
        try {
          for await (const line of lines(response)) {
            const event = JSON.parse(line) as SessionEvent;
            next = event.index + 1;
            attempt = 0;
            yield event;
          }
          return;
        } catch (error) {
          if (signal?.aborted === true || attempt >= 2 || !(error instanceof TypeError)) throw error;
        }
      }
    },
  };
}

async function* lines(response: Response): AsyncGenerator<string> {
  if (response.body === null) return;
  let rest = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    rest += chunk;
    for (let end = rest.indexOf("\n"); end !== -1; end = rest.indexOf("\n")) {
      const line = rest.slice(0, end);
      rest = rest.slice(end + 1);
      if (line !== "") yield line;
    }
  }
}

/**
 * `fetch`, with a connection that fails told as BDK8014.
 */
export async function reach(url: string, init?: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (error instanceof Error && error.name === "AbortError") throw error;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    throw failure("serverUnreachable", {
      message: `cannot reach ${new URL(url).origin}: ${cause || "no answer"}`,
      help: "check the URL, or start the server with bdk serve",
    });
  }
}

function refusal(url: string, status: number, text: string): Error {
  const body = parseError(text);
  if (body === undefined) {
    return failure("serverRefused", {
      message: `${url} answered ${status} and not as a bdk server does`,
      help: "pass the URL of the agent, such as http://127.0.0.1:3000/my-agent",
    });
  }
  const issues = (body.issues ?? []).map((issue) => {
    const path = Array.isArray(issue.path) ? issue.path.join(".") : issue.path;
    return `${path === undefined || path === "" ? "input" : path}: ${issue.message ?? "invalid"}`;
  });
  const help =
    body.available !== undefined
      ? body.available.length === 0
        ? "this agent has no tools that can be called"
        : `there is ${body.available.join(", ")}`
      : status === 401
        ? "pass --bearer-token, or BDK_BEARER_TOKEN"
        : undefined;
  return failure("serverRefused", {
    message: `${body.error}: ${body.message ?? `status ${status}`}`,
    ...(help === undefined ? {} : { help }),
    ...(issues.length === 0 ? {} : { notes: issues }),
  });
}

function parseError(text: string): ErrorBody | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && "error" in value && typeof value.error === "string"
      ? (value as ErrorBody)
      : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
