/** The session service of one agent over plain files: what `runtime/host` opens for each mount. */
import { setMaxListeners } from "node:events";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { type ArtifactScope, createArtifactsApi } from "../artifacts/api.js";
import { createArtifactKinds } from "../artifacts/kinds.js";
import { type ArtifactService, createArtifactService } from "../artifacts/service.js";
import type { OidcSection } from "../auth/oidc/contract.js";
import type { HostServices } from "../authoring/host.js";
import type { DeliveryCursors, Inbox } from "../channels/contract.js";
import { type ChannelMount, inOrder, mountChannels } from "../channels/mount.js";
import { createClients } from "../channels/packs.js";
import type { ConnectionSources } from "../connections/contract.js";
import { type ConnectionMount, mountConnections } from "../connections/mount.js";
import { RuntimeError } from "../errors.js";
import { createHookSink } from "../hooks/dispatch.js";
import type { Sections } from "../host/sections.js";
import type { AgentGeneration } from "../manifest/bundle.js";
import { createMeasurements, type Measurements } from "../otel/measurements.js";
import type { ReminderStore } from "../reminders/contract.js";
import { mountReminders, type ReminderMount } from "../reminders/mount.js";
import { mountSchedules, type ScheduleMount } from "../schedules/mount.js";
import { createSessionService } from "../session/index.js";
import type { HarnessResolver } from "../session/model.js";
import type { Clock, Generation, Log, SessionRecord } from "../session/ports.js";
import type { SessionService } from "../session/service.js";
import { createRunningGeneration, type GenerationSources } from "../tools/generation.js";
import { createServices } from "../tools/services.js";
import { createAmbient } from "../workspace/ambient.js";
import { createWorkspaces } from "../workspace/workspace.js";
import { createArtifactStore } from "./artifact-store.js";
import { createCommitLedger } from "./commits.js";
import { openDeliveryCursors } from "./delivery-cursors.js";
import { openEventStore } from "./event-store.js";
import { createHostFiles } from "./host-files.js";
import { createIds } from "./ids.js";
import { openInbox } from "./inbox.js";
import { createFileKv } from "./kv.js";
import { openLogKv } from "./log-kv.js";
import { hasReminders, openReminderStore } from "./reminder-store.js";
import { readSession } from "./session-folder.js";
import { openTokenSigner } from "./tokens.js";
import { readContainedFile } from "./workspace-file.js";

export interface AgentSessionsOptions {
  readonly slug: string;
  /** The agent's own folder: `<state-root>[/<slug>]`. Made if it is missing. */
  readonly stateRoot: string;
  /** The code that new turns and direct calls run on; a turn in flight keeps the one it began with. */
  readonly generation: () => AgentGeneration;
  readonly harnesses: HarnessResolver;
  readonly sections: Sections;
  readonly log: Log;
  /** Where session workspaces are made; default `local.workspaceDir`, else the user's cache folder. */
  readonly workspaceDir?: string;
  /** Absolute folder that `local.cwd` and `local.workspaceDir` are relative to; default: the working directory. */
  readonly base?: string;
  /** Other agents of the host, and who has the tokens of connections with `oauth: true`. */
  readonly connections?: Pick<ConnectionSources, "version" | "peer" | "authProvider" | "logins">;
  /** Most model steps in one turn; default 100. */
  readonly maxSteps?: number;
  readonly clock?: Clock;
}

export interface AgentSessions extends SessionService {
  /** Takes up the turns that an earlier process left open. Call it once the host listens; it needs no waiting for. */
  recover(): Promise<void>;
  /** `ctx.host` for work outside any session. */
  readonly services: () => HostServices;
  readonly artifacts: ArtifactService;
  readonly channels: ChannelMount;
  readonly schedules: ScheduleMount;
  readonly connections: ConnectionMount;
  readonly reminders: ReminderMount;
  /** What authored code measured in this process. */
  readonly measurements: Measurements;
}

/** How long work in flight may take to settle at closing, in milliseconds. */
const closeGraceMs = 10_000;

const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms).unref();
    return () => clearTimeout(timer);
  },
};

/**
 * Opens the sessions of one agent.
 *
 * @throws RuntimeError `storage_unavailable` when the folder can't be used, another server uses it, or a newer version wrote it.
 * @example const sessions = await openAgentSessions({ slug: "bot", stateRoot: "/srv/.bdk/bot", generation, harnesses, sections, log });
 */
export async function openAgentSessions(options: AgentSessionsOptions): Promise<AgentSessions> {
  const { slug, stateRoot, log, sections, harnesses } = options;
  const clock = options.clock ?? systemClock;
  const store = await openEventStore(stateRoot, log);
  const closing = new AbortController();
  setMaxListeners(0, closing.signal); // every handler that runs may listen
  const startedAt = new Date(clock.now()).toISOString();
  const makeId = createIds(clock.now);
  const artifacts = createArtifactStore(stateRoot, makeId, clock.now);
  const measurements = createMeasurements(log);
  const kv = createFileKv(path.join(stateRoot, "kv"));
  const deployment = path.join(stateRoot, "files");
  const workspaces = createWorkspaces({
    slug,
    stateDir: stateRoot,
    generation: options.generation,
    base: options.base ?? process.cwd(),
    ...(options.workspaceDir !== undefined && { workspaceDir: options.workspaceDir }),
  });

  const openClient = createClients(sections, options.generation, process.env, log);
  const connections = mountConnections(sections, options.generation, () => ({
    environment: process.env,
    base: options.base ?? process.cwd(),
    version: "0",
    peer: () => undefined,
    makeFolder: async (folder) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
    },
    ...options.connections,
    clock,
    log,
  }));

  const servicesOf = (of: AgentGeneration) =>
    createServices({
      kv,
      files: (record) =>
        createHostFiles({
          deployment,
          ...(record && { session: path.join(stateRoot, "sessions", record.id, "files") }),
        }),
      otel: (sessionId) => measurements.for(sessionId),
      reminders: (record) => reminders.api(record),
      openClient,
      mcp: (record, caller) => connections.host(of, { record, caller }),
    });

  const artifactsOf = (from: () => AgentGeneration) => (scope: ArtifactScope) =>
    createArtifactsApi(
      {
        store: artifacts,
        kinds: () => createArtifactKinds(from()),
        readFile: async (record, file, limit) => readContainedFile(workspaces.dirOf(record), file, limit),
        announce: (sessionId, turnId, data) => service.announce(sessionId, turnId, data),
      },
      scope,
    );

  const dispatch: Omit<GenerationSources, "harnesses" | "services" | "artifacts" | "connections"> = {
    sections,
    scriptsDir: path.join(stateRoot, "scripts"),
    log,
    ambient: createAmbient({
      folder: (record) => workspaces.contextDir(record),
      warn: (message) => log("warn", message),
      now: clock.now,
    }),
    stateRoot,
    workspaceDir: (record) => workspaces.dirOf(record),
    ensureWorkspace: (record) => workspaces.ensure(record),
  };

  /** Made once for each generation; turns that pinned an old one keep it alive, and nothing else does. */
  const running = new WeakMap<AgentGeneration, Generation>();
  function runningGeneration(): Generation {
    const from = options.generation();
    const known = running.get(from);
    if (known !== undefined) return known;
    const made = createRunningGeneration(from, {
      ...dispatch,
      harnesses,
      services: servicesOf(from),
      artifacts: artifactsOf(() => from),
      connections: connections.tools(from),
    });
    running.set(from, made);
    return made;
  }

  const currentServices = (record: SessionRecord | undefined) => servicesOf(options.generation())(record);
  let cursors: DeliveryCursors | undefined;
  let inbox: Inbox | undefined;
  const packStates = new Map<string, ReturnType<typeof openLogKv>>();
  const channels = mountChannels(sections, options.generation, () => ({
    generation: options.generation,
    sessions: service,
    record: (id) => readSession(path.join(stateRoot, "sessions", id)),
    services: currentServices,
    artifacts: artifactsOf(options.generation),
    state: createFileKv(path.join(stateRoot, "channels")),
    cursors: () => {
      cursors ??= openDeliveryCursors(stateRoot);
      return cursors;
    },
    inbox: () => {
      inbox ??= openInbox(stateRoot, clock.now);
      return inbox;
    },
    packState: (channelId) => {
      const known = packStates.get(channelId) ?? openLogKv(path.join(stateRoot, "packs", `${channelId}.ndjson`));
      packStates.set(channelId, known);
      return known;
    },
    sections,
    signal: closing.signal,
    startedAt,
    oidc: async () => {
      const section = (await sections.oidc?.()) as OidcSection | undefined;
      if (section === undefined) {
        throw new Error("this server was built without oidc; build it with `bdk build --include oidc`");
      }
      return section;
    },
    log,
    fail: (code, message) => new RuntimeError(code, message),
  }));
  const schedules = mountSchedules(sections, options.generation, () => ({
    generation: options.generation,
    sessions: service,
    services: currentServices,
    artifacts: artifactsOf(options.generation),
    receive: channels.receive,
    ledger: createFileKv(path.join(stateRoot, "schedules")),
    clock,
    signal: closing.signal,
    log,
    fail: (code, message, details) => new RuntimeError(code, message, details),
  }));
  let reminderStore: ReminderStore | undefined;
  const reminders = mountReminders(
    sections,
    () => hasReminders(stateRoot),
    () => {
      reminderStore ??= openReminderStore(stateRoot, log);
      return {
        generation: options.generation,
        sessions: service,
        record: (id) => readSession(path.join(stateRoot, "sessions", id)),
        services: currentServices,
        artifacts: artifactsOf(options.generation),
        store: reminderStore,
        makeId,
        clock,
        signal: closing.signal,
        log,
        fail: (code, message, details) => new RuntimeError(code, message, details),
      };
    },
    log,
  );
  const service = createSessionService({
    store,
    workspace: workspaces,
    commits: createCommitLedger(stateRoot),
    generation: runningGeneration,
    sink: inOrder(
      channels.sink,
      createHookSink({
        generation: options.generation,
        services: currentServices,
        artifacts: artifactsOf(options.generation),
        stateRoot,
        signal: closing.signal,
        log,
      }),
    ),
    clock,
    makeId,
    tokens: openTokenSigner(stateRoot),
    log,
    fail: ({ code, message, details }) => new RuntimeError(code, message, details),
    pace: channels.pace,
    ...(options.maxSteps !== undefined && { maxSteps: options.maxSteps }),
  });

  return {
    ...service,
    artifacts: createArtifactService(artifacts),
    measurements,
    channels,
    schedules,
    connections,
    reminders,
    services: () => currentServices(undefined),
    async recover() {
      await channels.start();
      await service.recover();
      // Receivers may be slow: nobody waits for what they missed.
      channels.recover().catch((error: unknown) => log("error", `events could not be delivered: ${String(error)}`));
    },
    async close(graceMs = closeGraceMs) {
      const deadline = clock.now() + graceMs;
      await Promise.all([channels.settled(graceMs), schedules.settled(graceMs), reminders.settled(graceMs)]);
      // One limit for all of it: whoever stops us has one, too.
      await service.close(Math.max(0, deadline - clock.now()));
      await connections.close();
      closing.abort();
      cursors?.close();
      await Promise.all([inbox?.close(), ...[...packStates.values()].map((each) => each.close())]);
      reminderStore?.close();
      // Last: another process may begin as soon as the store is given back.
      await store.close();
    },
  };
}
