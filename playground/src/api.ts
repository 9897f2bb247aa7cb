/** The public HTTP API, as the page uses it. */
import type { WireEvent } from "./events.js";

/** `/pr-approver` for `/pr-approver/playground`, empty for `/playground`. */
const base = location.pathname.replace(/\/playground\/?$/, "");
const tokenKey = `bdk-token:${base}`;
const continuationKey = (sessionId: string) => `bdk-continuation:${base}:${sessionId}`;

/** An answer other than 2xx. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The bearer token lives as long as the tab. */
export function readToken(): string {
  return sessionStorage.getItem(tokenKey) ?? "";
}

export function writeToken(token: string): void {
  if (token === "") sessionStorage.removeItem(tokenKey);
  else sessionStorage.setItem(tokenKey, token);
}

function headers(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  const token = readToken();
  return token === "" ? { ...extra } : { ...extra, authorization: `Bearer ${token}` };
}

async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(`${base}${path}`, init);
  if (response.ok) return response;
  const body: unknown = await response.json().catch(() => ({}));
  const field = (name: string) => {
    const value = typeof body === "object" && body !== null ? Reflect.get(body, name) : undefined;
    return typeof value === "string" ? value : undefined;
  };
  throw new ApiError(
    response.status,
    field("error") ?? "error",
    field("message") ?? `The server answered ${response.status}.`,
  );
}

async function get<T>(path: string): Promise<T> {
  return (await request(path, { headers: headers() })).json();
}

async function post<T>(path: string, body: unknown): Promise<T> {
  const init = { method: "POST", headers: headers({ "content-type": "application/json" }), body: JSON.stringify(body) };
  return (await request(path, init)).json();
}

export interface SessionSummary {
  readonly id: string;
  readonly title?: string;
  readonly channelId: string;
  readonly status: string;
  readonly continuationToken: string | null;
  readonly updatedAt: string;
  readonly turns: number;
}

interface Accepted {
  readonly sessionId: string;
  readonly continuationToken: string;
}

export interface Named {
  readonly name: string;
  readonly description?: unknown;
  readonly [key: string]: unknown;
}

/** `GET /v1/info`, the parts that the page shows. */
export interface AgentInfo {
  readonly name: string;
  readonly description?: unknown;
  readonly model: { readonly id?: string };
  readonly instructions: { readonly chars?: number };
  readonly tools: readonly Named[];
  readonly skills: readonly Named[];
  readonly subagents: readonly Named[];
  readonly hooks: readonly Named[];
  readonly mcpConnections: readonly Named[];
  readonly channels: readonly Named[];
  readonly schedules: readonly Named[];
  readonly diagnostics: readonly { readonly code: string; readonly severity: string; readonly message: string }[];
}

export interface LogLine {
  readonly seq: number;
  readonly at: string;
  readonly level: string;
  readonly message: string;
}

export async function fetchInfo(): Promise<AgentInfo> {
  const { agents } = await get<{ agents: readonly AgentInfo[] }>("/v1/info");
  const [agent] = agents;
  if (agent === undefined) throw new ApiError(404, "not_found", "The server mounts no agent here.");
  return agent;
}

export async function listSessions(cursor?: string) {
  const query = cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`;
  return get<{ sessions: readonly SessionSummary[]; nextCursor?: string }>(`/v1/sessions?limit=50${query}`);
}

export async function createSession(message: string): Promise<string> {
  const { sessionId, continuationToken } = await post<Accepted>("/v1/session", { message });
  sessionStorage.setItem(continuationKey(sessionId), continuationToken);
  return sessionId;
}

/** Sends a follow-up. The token is the one of the last answer, else the one that the list of sessions has. */
export async function sendFollowUp(sessionId: string, message: string): Promise<void> {
  const send = async (continuationToken: string) => {
    const path = `/v1/session/${encodeURIComponent(sessionId)}`;
    const answer = await post<Accepted>(path, { continuationToken, message });
    sessionStorage.setItem(continuationKey(sessionId), answer.continuationToken);
  };
  const kept = sessionStorage.getItem(continuationKey(sessionId));
  if (kept !== null) {
    try {
      return await send(kept);
    } catch (error) {
      // Another tab, or another program, went on with this session.
      if (!(error instanceof ApiError) || error.code !== "stale_continuation_token") throw error;
    }
  }
  const { sessions } = await listSessions();
  const token = sessions.find((each) => each.id === sessionId)?.continuationToken;
  if (typeof token !== "string")
    throw new ApiError(409, "session_not_followable", "This session takes no further messages.");
  await send(token);
}

export function stopTurn(sessionId: string): Promise<unknown> {
  return post(`/v1/session/${encodeURIComponent(sessionId)}/stop`, {});
}

export function resolveApproval(sessionId: string, callId: string, decision: "approve" | "deny"): Promise<unknown> {
  return post(`/v1/session/${encodeURIComponent(sessionId)}/approvals/${encodeURIComponent(callId)}`, { decision });
}

export function fetchLogs(after: number): Promise<{ readonly lines: readonly LogLine[]; readonly next: number }> {
  return get(`/v1/logs?after=${after}`);
}

/** Events from `startIndex`, then live, until `signal` aborts or the server ends the stream. */
export async function* streamEvents(
  sessionId: string,
  startIndex: number,
  signal: AbortSignal,
): AsyncGenerator<WireEvent> {
  const path = `/v1/session/${encodeURIComponent(sessionId)}/stream?startIndex=${startIndex}`;
  const response = await request(path, { headers: headers(), signal });
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") yield JSON.parse(line) as WireEvent;
  }
}
