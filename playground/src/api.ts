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

export interface ChannelInfo extends Named {
  /** Set for the channel of a platform. */
  readonly pack?: string;
  readonly routes: readonly RouteInfo[];
}

export interface RouteInfo {
  readonly method: string;
  readonly path: string;
  readonly description?: string;
  readonly bodySchema?: unknown;
  readonly querySchema?: unknown;
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
  readonly channels: readonly ChannelInfo[];
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

/**
 * Decides about a parked call.
 *
 * @param confirm the code has changed since it was asked about, and the person has been told
 */
export function resolveApproval(
  sessionId: string,
  callId: string,
  decision: "approve" | "deny",
  confirm = false,
): Promise<unknown> {
  const path = `/v1/session/${encodeURIComponent(sessionId)}/approvals/${encodeURIComponent(callId)}`;
  return post(path, { decision, ...(confirm ? { confirm } : {}) });
}

/** Whether the code behind a parked call has changed since it was asked about. */
export async function isChanged(sessionId: string, callId: string): Promise<boolean> {
  const path = `/v1/session/${encodeURIComponent(sessionId)}/approvals`;
  const { approvals } = await get<{ approvals: readonly { callId: string; changed?: boolean }[] }>(path);
  return approvals.some((each) => each.callId === callId && each.changed === true);
}

/** What an endpoint answered: its text, and the session that it opened, if it says so. */
export interface Invoked {
  readonly status: number;
  readonly text: string;
  readonly sessionId?: string;
}

/** Absolute URL of a path of the agent's. */
export function urlOf(path: string): string {
  return new URL(`${base}${path}`, location.href).href;
}

/** Calls an endpoint; the body of a GET travels as its query. Any status is an answer. */
export async function invoke(method: string, path: string, body: unknown): Promise<Invoked> {
  const isGet = method === "GET";
  const query = isGet && typeof body === "object" && body !== null ? new URLSearchParams(textsOf(body)).toString() : "";
  const init: RequestInit = isGet
    ? { headers: headers() }
    : { method, headers: headers({ "content-type": "application/json" }), body: JSON.stringify(body) };
  const response = await fetch(`${base}${path}${query === "" ? "" : `?${query}`}`, init);
  const text = await response.text();
  const sessionId = sessionIn(text);
  return { status: response.status, text, ...(sessionId === undefined ? {} : { sessionId }) };
}

function textsOf(body: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  );
}

function sessionIn(text: string): string | undefined {
  const [, id] = /"(?:sessionId|id)"\s*:\s*"(ses_\w+)"/.exec(text) ?? [];
  return id;
}

/** Reminders that are set, and whether the server runs with `--dev`: only then are they, and schedules, fired by hand. */
export async function fetchReminders(): Promise<readonly Reminder[] | undefined> {
  try {
    return (await get<{ reminders: readonly Reminder[] }>("/v1/dev/reminders")).reminders;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

export interface Reminder {
  readonly id: string;
  readonly [key: string]: unknown;
}

export function dispatchSchedule(name: string): Promise<{ readonly sessionIds: readonly string[] }> {
  return post(`/v1/dev/schedules/${encodeURIComponent(name)}`, {});
}

export function dispatchReminder(id: string): Promise<unknown> {
  return post(`/v1/dev/reminders/${encodeURIComponent(id)}`, {});
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
