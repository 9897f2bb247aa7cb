/** The server: agents mounted on one fastify app, from a bundle in memory. Source: `http-api.md`, decisions 20–25. */
import { join, resolve } from "node:path";
import type { FastifyInstance } from "fastify";
import { toCaller } from "../auth/caller.js";
import { isLoopbackAddress } from "../auth/loopback.js";
import { createAuthChain } from "../auth/policy.js";
import { notesOnModel } from "../harness/models/params.js";
import { createHarnessResolver } from "../harness/models/resolver.js";
import { readModelSetting } from "../harness/models/setting.js";
import type { AgentMount, HttpHost } from "../http/context.js";
import type { AgentBundle } from "../manifest/bundle.js";
import { openAgent, type ServedAgent } from "./agent.js";
import { createApp } from "./app.js";
import { checkBundle } from "./check.js";
import { StartupError } from "./environment.js";
import { createGeneration, type Generation } from "./generation.js";
import { createHostLog, createStderrWriter, type HostLog } from "./log.js";
import type { HostHandle, HostOptions } from "./options.js";
import { createRedactor, secretsOf } from "./redact.js";
import type { Sections } from "./sections.js";
import { removeServerFile, writeServerFile } from "./server-file.js";
import { createStaticFolder } from "./static.js";
import { trimUrl, urlOfAddress } from "./urls.js";
import { startupWarnings } from "./warnings.js";

/** A running host that can be given new code. */
export interface Host extends HostHandle {
  /**
   * Answers with new code from the next request and the next turn on. A turn in flight ends on the code it began with;
   * connections, streams and sessions stay.
   */
  swap(bundle: AgentBundle): Promise<void>;
  readonly log: HostLog;
}

/** How long turns in flight may take to settle when the host closes, in milliseconds. */
const closeGraceMs = 10_000;

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

/** As `createHost`, with a log that was opened before the project's code was loaded. */
export async function createHostWith(
  log: HostLog,
  bundle: AgentBundle,
  options: HostOptions,
  sections: Sections,
): Promise<Host> {
  const environment = process.env;
  checkBundle(bundle, options);
  const stateRoot = resolve(options.stateRoot ?? ".bdk");
  const isMulti = options.mode !== "single";
  const host = options.host ?? "127.0.0.1";
  const loopbackOnly = host === "localhost" || isLoopbackAddress(host);
  const model = options.model === undefined ? undefined : readModelSetting(options.model);
  const harnesses = createHarnessResolver({ sections, environment, offline: openOffline });

  const toGeneration = (from: AgentBundle, slug: string): Generation => {
    const entry = from.manifest.agents.find((agent) => agent.slug === slug);
    if (entry === undefined) throw new StartupError(`the bundle has no agent "${slug}"`);
    return createGeneration(from, entry, { notesOn: notesOnModel, ...(model && { model }) });
  };
  const open = (from: AgentBundle, slug: string): Promise<ServedAgent> =>
    openAgent({
      slug,
      generation: toGeneration(from, slug),
      stateRoot: isMulti ? join(stateRoot, slug) : stateRoot,
      harnesses,
      sections,
      log,
    });

  let current = bundle;
  const agents = new Map<string, ServedAgent>();
  for (const { slug } of bundle.manifest.agents) agents.set(slug, await open(bundle, slug));

  const closing = new AbortController();
  let isDraining = false;
  let baseUrl = "";
  const assets = { playground: folderOf("playground", options), docs: folderOf("docs", options) };
  const http: HttpHost = {
    log,
    auth: createAuthChain(options),
    limits: { bodyBytes: options.bodyLimit ?? 1024 * 1024, workspaceBytes: 25 * 1024 * 1024 },
    version: bundle.manifest.bdk,
    isMulti,
    hasPlayground: options.playground !== false,
    hasDocs: options.docs !== false,
    mounts: () => [...agents.values()],
    mount: (slug): AgentMount | undefined => (slug === undefined ? first(agents) : agents.get(slug)),
    urlOf: (slug) => (isMulti ? `${baseUrl}/${slug}` : baseUrl),
    manifestHash: () => current.manifest.hash,
    toCaller: (principal) =>
      toCaller(principal, {
        dev: options.dev === true,
        loopbackOnly,
        allowAnonymous: options.allowAnonymous === true,
      }),
    closing: closing.signal,
    isDraining: () => isDraining,
    readStatic: async (folder, path) => assets[folder]?.(path),
  };

  const app = createApp(http);
  await listen(app, host, options.port ?? 3000);
  const address = app.server.address();
  if (address === null || typeof address === "string") throw new StartupError("the server has no address");
  const url = urlOfAddress(address);
  baseUrl = options.publicUrl === undefined ? url : trimUrl(options.publicUrl);
  await writeServerFile(stateRoot, { url, pid: process.pid });
  for (const warning of startupWarnings({ options, address: host, loopbackOnly, agents: http.mounts(), harnesses }))
    log.warn(warning);

  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    isDraining = true;
    app.server.close();
    await Promise.all([...agents.values()].map((agent) => agent.sessions.close(closeGraceMs)));
    closing.abort();
    app.server.closeIdleConnections();
    await app.close();
    await removeServerFile(stateRoot);
  };

  let swapping: Promise<void> = Promise.resolve();
  const swap = async (next: AgentBundle): Promise<void> => {
    checkBundle(next, options);
    const generations = next.manifest.agents.map(({ slug }) => [slug, toGeneration(next, slug)] as const);
    const opened = new Map<string, ServedAgent>();
    for (const [slug] of generations) if (!agents.has(slug)) opened.set(slug, await open(next, slug));
    // From here on nothing can fail: all agents change at once.
    current = next;
    for (const [slug, generation] of generations) agents.get(slug)?.swap(generation);
    for (const [slug, agent] of opened) agents.set(slug, agent);
    for (const [slug, agent] of agents) {
      if (generations.some(([kept]) => kept === slug)) continue;
      agents.delete(slug);
      agent.sessions.close(closeGraceMs).catch((error) => log.error(`closing agent "${slug}"`, error));
    }
  };

  return {
    url,
    port: address.port,
    log,
    get agents() {
      return [...agents.values()].map(({ slug, generation }) => ({
        slug,
        name: generation.agent.name,
        url: http.urlOf(slug),
        ...(http.hasPlayground && { playgroundUrl: `${http.urlOf(slug)}/playground` }),
      }));
    },
    swap: (next) => {
      const done = swapping.then(() => swap(next));
      swapping = done.catch(() => undefined);
      return done;
    },
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

async function listen(app: FastifyInstance, host: string, port: number): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EADDRINUSE")
      throw new StartupError(`port ${port} on ${host} is taken; choose another with --port, or 0 for any`, {
        cause: error,
      });
    if (code === "EACCES") throw new StartupError(`port ${port} may not be used by this user`, { cause: error });
    if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
      throw new StartupError(`${host} is no address of this machine`, { cause: error });
    throw error;
  }
}

function folderOf(name: "playground" | "docs", options: HostOptions) {
  return options.assets === undefined ? undefined : createStaticFolder(join(options.assets, name));
}

function first<T>(map: ReadonlyMap<string, T>): T | undefined {
  const [value] = map.values();
  return value;
}
