import type { FastifyReply, FastifyRequest } from "fastify";
import type { ArtifactService } from "../artifacts/service.js";
import type { AuthRequest } from "../auth/loopback.js";
import { type AuthPolicy, authenticate } from "../auth/policy.js";
import type { Principal } from "../auth/principal.js";
import type { ChannelMount } from "../channels/mount.js";
import type { ConnectionMount } from "../connections/mount.js";
import { RuntimeError } from "../errors.js";
import type { Generation } from "../host/generation.js";
import type { HostLog } from "../host/log.js";
import type { ReminderMount } from "../reminders/mount.js";
import type { ScheduleMount } from "../schedules/mount.js";
import type { Caller, SessionService } from "../session/service.js";
import { isAllowedOrigin } from "./cors.js";
import { forwardedHost } from "./forwarded.js";
import type { Meter } from "./meter.js";

/** One served agent, as the routes see it. */
export interface AgentMount {
  readonly slug: string;
  readonly sessions: SessionService;
  readonly artifacts: ArtifactService;
  readonly channels: ChannelMount;
  readonly schedules: ScheduleMount;
  readonly connections: ConnectionMount;
  readonly reminders: ReminderMount;
  /** The code that answers now; a dev swap replaces it. */
  readonly generation: Generation;
}

/** What the route families need of the host. */
export interface HttpHost {
  readonly log: HostLog;
  readonly auth: readonly AuthPolicy[];
  readonly limits: { readonly bodyBytes: number; readonly workspaceBytes: number };
  /** Version of the runtime, as `/v1/health` says it. */
  readonly version: string;
  readonly isMulti: boolean;
  /** Channel routes answer 202 with an empty body, whatever the handler returns. Decision 21. */
  readonly isHosted: boolean;
  readonly playground: Page;
  readonly docs: Page;
  /** Nothing fires by itself; there are routes to fire things by hand. */
  readonly isDev: boolean;
  /** `X-Forwarded-…` headers are a proxy's of the operator. */
  readonly trustProxy: boolean;
  /** Origins whose pages the operator lets in. */
  readonly corsOrigins: ReadonlySet<string>;
  /** Counts requests against their callers' allowances; absent without a limit. */
  readonly meter?: Meter;
  /** Agents in the order of the manifest. */
  mounts(): readonly AgentMount[];
  /** The agent of a slug; the only one in single mode. */
  mount(slug: string | undefined): AgentMount | undefined;
  /** Base URL of an agent without a trailing slash: `http://127.0.0.1:3000/my-agent`. */
  urlOf(slug: string): string;
  manifestHash(): string;
  toCaller(principal: Principal): Caller;
  /** Aborts when streams are to end because the host closes. */
  readonly closing: AbortSignal;
  isDraining(): boolean;
  /** A file of the static folders, or `undefined`. */
  readStatic(folder: "playground" | "docs", path: string): Promise<StaticFile | undefined>;
}

/** Static pages: `off` when the operator wants none, `missing` when a server was copied without the files beside it. */
export type Page = "served" | "missing" | "off";

export interface StaticFile {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  readonly etag: string;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Set by the hooks of `withAgent`; read through `agentOf` and `callerOf`. */
    bdkMount: AgentMount | null;
    bdkCaller: Caller | null;
  }
}

type Done = (error?: Error) => void;

/** Route hook: finds the agent that the URL names, 404 when there is none. */
export function findAgent(host: HttpHost) {
  return (request: FastifyRequest, _reply: FastifyReply, done: Done): void => {
    const { slug } = request.params as { slug?: string };
    const mount = host.mount(slug);
    request.bdkMount = mount ?? null;
    done(mount === undefined ? new RuntimeError("not_found", `no agent is mounted at "/${slug ?? ""}"`) : undefined);
  };
}

/**
 * Route hook: runs the auth chain, before any byte of the body is read; 401 when no policy admits the request.
 *
 * @param refuse why a request is turned away before anybody asks who sent it
 */
export function requireCaller(host: HttpHost, refuse?: (request: AuthRequest) => RuntimeError | undefined) {
  const settle = async (
    request: FastifyRequest,
    reply: FastifyReply,
    principal: Principal | undefined,
  ): Promise<void> => {
    await host.meter?.(request, reply, principal);
    if (principal === undefined) {
      reply.header("www-authenticate", "Bearer");
      throw unauthorized(host);
    }
    request.bdkCaller = host.toCaller(principal);
  };
  return (request: FastifyRequest, reply: FastifyReply, done: Done): void => {
    const asked = toAuthRequest(host, request);
    const refusal = refuse?.(asked);
    if (refusal !== undefined) {
      done(refusal);
      return;
    }
    const admitted = authenticate(host.auth, asked);
    if (admitted instanceof Promise || host.meter !== undefined) {
      Promise.resolve(admitted)
        .then((principal) => settle(request, reply, principal))
        .then(() => done(), done);
      return;
    }
    if (admitted === undefined) reply.header("www-authenticate", "Bearer");
    else request.bdkCaller = host.toCaller(admitted);
    done(admitted === undefined ? unauthorized(host) : undefined);
  };
}

/** What auth policies may know of a request. */
export function toAuthRequest(host: HttpHost, request: FastifyRequest): AuthRequest {
  return {
    peer: request.socket.remoteAddress,
    headers: request.headers,
    forwardedHost: host.trustProxy ? forwardedHost(request) : undefined,
    isAllowedOrigin: isAllowedOrigin(request, host.corsOrigins),
  };
}

function unauthorized(host: HttpHost): RuntimeError {
  const isLocal = host.auth.some((policy) => policy.name === "localDevStrict");
  return new RuntimeError(
    "unauthorized",
    isLocal
      ? "only direct calls from this machine are admitted; start the server with --bearer-token to let others in"
      : "send the server's token as `Authorization: Bearer <token>`",
  );
}

/** The agent a request is for. */
export function agentOf(request: FastifyRequest): AgentMount {
  if (request.bdkMount === null) throw new RuntimeError("internal", "route without an agent");
  return request.bdkMount;
}

/** Who sent a request. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.bdkCaller === null) throw new RuntimeError("internal", "route without a caller");
  return request.bdkCaller;
}
