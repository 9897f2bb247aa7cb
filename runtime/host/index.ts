/** The server: agents mounted on one fastify app, from a bundle in memory. Source: `http-api.md`, decisions 20–25. */
import { setMaxListeners } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { toCaller } from "../auth/caller.js";
import { isLoopbackAddress } from "../auth/loopback.js";
import { createPeerPasses } from "../auth/peer-pass.js";
import { type AuthPolicy, createAuthChain } from "../auth/policy.js";
import { RuntimeError } from "../errors.js";
import { notesOnModel } from "../harness/models/params.js";
import { createHarnessResolver } from "../harness/models/resolver.js";
import { readModelSetting } from "../harness/models/setting.js";
import type { HttpHost, Page } from "../http/context.js";
import type { AgentBundle } from "../manifest/bundle.js";
import type { Caller } from "../session/service.js";
import { openLogins } from "../storage/login-store.js";
import { openAgent } from "./agent.js";
import { openAgents, type ServedAgents, type ServedAgentsOptions } from "./agents.js";
import { createApp } from "./app.js";
import { byHand } from "./by-hand.js";
import { checkBundle } from "./check.js";
import { trackConnections } from "./connections.js";
import { StartupError } from "./environment.js";
import { listen, urlOfAddress } from "./listen.js";
import { createHostLog, createStderrWriter, type HostLog } from "./log.js";
import { type Front, openFront } from "./open-front.js";
import type { HostHandle, HostOptions } from "./options.js";
import { projectFolder } from "./project-folder.js";
import { createRedactor, secretsOf } from "./redact.js";
import type { Sections } from "./sections.js";
import { removeServerFile, writeServerFile } from "./server-file.js";
import { createStandby } from "./standby.js";
import { createStaticFolder } from "./static.js";
import { startupWarnings } from "./warnings.js";

/** A running host that can be given new code. */
export interface Host extends HostHandle {
  /**
   * Answers with new code from the next request and the next turn on. A turn in flight ends on the code it began with;
   * connections, streams and sessions stay. Rejects, and changes nothing, when the new code can't be served.
   */
  swap(bundle: AgentBundle): Promise<void>;
  readonly log: HostLog;
  /** Absolute. */
  readonly stateRoot: string;
}

/** How long turns in flight may take to settle when the host closes, in milliseconds; `--shutdown-timeout`. */
const defaultCloseGraceMs = 10_000;

/** How long answers in flight may take after that, and how long at least, in milliseconds. */
const [answerGraceMs, answerMomentMs] = [5_000, 1_000] as const;

const mebibyte = 1024 * 1024;

/**
 * Starts a server over a bundle.
 *
 * @throws StartupError when variables are missing, the options contradict each other, or the address cannot be used.
 * @example
 * const host = await createHost(bundle, { port: 0, model: "offline" }, sections);
 * await host.close();
 */
export async function createHost(
  bundle: AgentBundle,
  options: HostOptions = {},
  sections: Sections = {},
): Promise<Host> {
  return createHostWith(openLog(options), bundle, options, sections);
}

/** The log of a host with these options: secrets taken out, lines to `options.log` or stderr. */
export function openLog(options: HostOptions): HostLog {
  return createHostLog({
    write: options.log ?? createStderrWriter(),
    redact: createRedactor([options.authToken, options.operatorToken, ...secretsOf(process.env)]),
  });
}

/** The file that `BDK_OFFLINE_SCRIPT` names: what the offline model does, step by step. */
function readOfflineScript(): string | undefined {
  const file = process.env.BDK_OFFLINE_SCRIPT;
  if (file === undefined || file === "") return undefined;
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new RuntimeError("model_unavailable", `BDK_OFFLINE_SCRIPT: ${String(error)}`);
  }
}

/** As `createHost`, with a log that was opened before the project's code was loaded. */
export async function createHostWith(
  log: HostLog,
  bundle: AgentBundle,
  options: HostOptions,
  sections: Sections,
): Promise<Host> {
  checkBundle(bundle, options);
  const stateRoot = resolve(options.stateRoot ?? ".bdk");
  const isMulti = options.mode !== "single";
  const stateRootOf = (slug: string) => (isMulti ? join(stateRoot, slug) : stateRoot);
  const address = options.host ?? "127.0.0.1";
  const loopbackOnly = address === "localhost" || isLoopbackAddress(address);
  const model = readModelSetting(options.model);
  const harnesses = createHarnessResolver({ sections, environment: process.env, readOfflineScript });

  const passes = createPeerPasses();
  const state: HostState = { baseUrl: "", ownUrl: "", isDraining: false, closing: new AbortController() };
  setMaxListeners(0, state.closing.signal); // one for each request that waits
  const connections = {
    version: bundle.manifest.bdk,
    peer: (slug: string) => {
      const isMounted = agents.get(slug) !== undefined;
      const url = `${state.ownUrl}${isMulti ? `/${slug}` : ""}/v1/mcp`;
      return isMounted ? { url, pass: passes.issue } : undefined;
    },
  };
  const front = await openFront(options, sections, log);
  const standby = createStandby({
    ...options,
    ...front,
    roots: () => bundle.manifest.agents.map(({ slug }) => stateRootOf(slug)),
    address,
    port: options.port ?? 3000,
    health: { version: bundle.manifest.bdk, manifestHash: bundle.manifest.hash },
    log,
  });
  const agentOptions: ServedAgentsOptions = {
    host: options,
    log,
    notesOn: notesOnModel,
    stateRootOf,
    ...(model && { model }),
    open: async (slug, generation) => {
      const root = stateRootOf(slug);
      try {
        // A built server has no project around it: what its agents name is beside it.
        const base = options.base === undefined ? resolve(".") : projectFolder(resolve(options.base), slug);
        const own = { ...connections, logins: openLogins(stateRoot, slug) };
        return await openAgent({ slug, generation, stateRoot: root, base, harnesses, sections, connections: own, log });
      } catch (error) {
        throw refusedRoot(error, root);
      }
    },
  };
  const agents = await standby.open(() => openAgents(bundle, agentOptions));

  const http = createHttpHost(state, agents, log, { ...options, loopbackOnly, isMulti, front }, passes.policy);
  const app = createApp(http, front.serverFactory);
  front.attach(app);
  const tracked = trackConnections(app.server);
  try {
    const listening = await standby.handOver((port) => listen(app, address, port));
    const url = urlOfAddress(listening, front.serverFactory === undefined ? "http" : "https");
    state.ownUrl = await front.listenInside(app, url);
    state.baseUrl = options.publicUrl?.replace(/\/+$/, "") ?? url;
    await writeServerFile(stateRoot, { url, pid: process.pid });
    for (const warning of startupWarnings({ options, address, loopbackOnly, agents: agents.all(), harnesses })) {
      log.warn(warning);
    }
    await agents.recover();
    if (options.dev !== true) {
      for (const { schedules, reminders } of agents.all()) {
        if (options.schedules !== false) await schedules.start();
        await reminders.start();
      }
    }
    let closed: Promise<void> | undefined;
    return {
      url,
      port: listening.port,
      log,
      stateRoot,
      get agents() {
        return agents.all().map(({ slug, generation }) => ({
          slug,
          name: generation.agent.name,
          url: http.urlOf(slug),
          ...(http.playground === "served" && { playgroundUrl: `${http.urlOf(slug)}/playground` }),
        }));
      },
      ...byHand(() => agents.all()),
      swap: (next) => agents.swap(next),
      close: () => {
        closed ??= close();
        return closed;
      },
    };
  } catch (error) {
    await close();
    throw error;
  }

  /** Stops accepting, lets turns settle and their streams end with them, then lets go of everything. */
  async function close(): Promise<void> {
    state.isDraining = true;
    app.server.close();
    const grace = options.shutdownTimeoutMs ?? defaultCloseGraceMs;
    const startedAt = performance.now();
    await agents.close(grace);
    state.closing.abort();
    // Of the same allowance; streams that end now need a moment, whatever is left of it.
    const left = grace - (performance.now() - startedAt);
    await tracked.settled(Math.min(Math.max(left, answerMomentMs), answerGraceMs));
    // Kept-alive connections, and those that never sent a request, would hold the port for minutes.
    app.server.closeAllConnections();
    front.close();
    await app.close();
    await removeServerFile(stateRoot);
  }
}

/** A state root that the disk refuses is the operator's to mend: they are told which folder, and what the system said. */
function refusedRoot(error: unknown, root: string): unknown {
  const cause = error instanceof RuntimeError ? error.cause : undefined;
  if (!(cause instanceof Error) || !("code" in cause)) return error;
  return new StartupError(`the state root ${root} can't be used: ${cause.message}`, String(cause.code));
}

/** What changes over a host's life. */
interface HostState {
  baseUrl: string;
  /** Where the host reaches itself. */
  ownUrl: string;
  isDraining: boolean;
  readonly closing: AbortController;
}

function createHttpHost(
  state: HostState,
  agents: ServedAgents,
  log: HostLog,
  options: HostOptions & { readonly loopbackOnly: boolean; readonly isMulti: boolean; readonly front: Front },
  peers: AuthPolicy,
): HttpHost {
  const { loopbackOnly, isMulti, assets, dev = false, allowAnonymous = false } = options;
  const pageOf = (folder: "playground" | "docs"): Page => {
    if (options[folder] === false) return "off";
    return assets !== undefined && existsSync(join(assets, folder, "index.html")) ? "served" : "missing";
  };
  const folders =
    assets === undefined
      ? undefined
      : {
          playground: createStaticFolder(join(assets, "playground")),
          docs: createStaticFolder(join(assets, "docs")),
        };
  return {
    log,
    auth: [peers, ...createAuthChain(options)],
    trustProxy: options.trustProxy === true,
    corsOrigins: new Set(options.corsOrigins),
    ...(options.front.meter && { meter: options.front.meter }),
    limits: { bodyBytes: options.bodyLimit ?? mebibyte, workspaceBytes: 25 * mebibyte },
    version: agents.bundle.manifest.bdk,
    isMulti,
    isHosted: options.hosted === true,
    isDev: dev,
    playground: pageOf("playground"),
    docs: pageOf("docs"),
    mounts: () => agents.all(),
    mount: (slug) => agents.get(slug),
    urlOf: (slug) => (isMulti ? `${state.baseUrl}/${slug}` : state.baseUrl),
    manifestHash: () => agents.bundle.manifest.hash,
    toCaller: rememberCallers((principal) => toCaller(principal, { dev, loopbackOnly, allowAnonymous })),
    closing: state.closing.signal,
    isDraining: () => state.isDraining,
    readStatic: async (folder, path) => folders?.[folder](path),
  };
}

/** A policy that always admits the same principal hands out the same object: its caller is made once. */
function rememberCallers(make: HttpHost["toCaller"]): HttpHost["toCaller"] {
  const callers = new WeakMap<object, Caller>();
  return (principal) => {
    const known = callers.get(principal);
    if (known !== undefined) return known;
    const caller = make(principal);
    callers.set(principal, caller);
    return caller;
  };
}
