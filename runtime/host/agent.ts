import type { ConnectionSources } from "../connections/contract.js";
import type { HarnessResolver } from "../harness/harness.js";
import type { AgentMount } from "../http/context.js";
import { openAgentSessions } from "../storage/agent-sessions.js";
import type { Generation } from "./generation.js";
import type { HostLog } from "./log.js";
import type { Sections } from "./sections.js";

/** One agent with its sessions and the code they run on. */
export interface ServedAgent extends AgentMount {
  /** New turns and direct calls run on this code from now on. */
  swap(next: Generation): void;
  /** Takes up what an earlier process left. */
  recover(): Promise<void>;
  /** Lets turns settle up to a limit in milliseconds (default 10 s), flushes, and releases the store. */
  close(graceMs?: number): Promise<void>;
}

export interface OpenAgentOptions {
  readonly slug: string;
  readonly generation: Generation;
  /** The agent's own folder below the state root. */
  readonly stateRoot: string;
  /** Folder that paths in agent.ts are relative to. */
  readonly base?: string;
  readonly harnesses: HarnessResolver;
  /** Other agents of the host, and the tokens of connections. */
  readonly connections?: Pick<ConnectionSources, "version" | "peer" | "authProvider" | "logins">;
  readonly sections: Sections;
  readonly log: HostLog;
}

/** Opens an agent's sessions over the file store. */
export async function openAgent(options: OpenAgentOptions): Promise<ServedAgent> {
  const { slug, stateRoot, harnesses, sections, log } = options;
  let current = options.generation;
  const sessions = await openAgentSessions({
    slug,
    stateRoot,
    generation: () => current,
    harnesses,
    sections,
    ...(options.base !== undefined && { base: options.base }),
    ...(options.connections && { connections: options.connections }),
    log: (level, message) => log[level](message),
  });
  return {
    slug,
    sessions,
    artifacts: sessions.artifacts,
    channels: sessions.channels,
    schedules: sessions.schedules,
    connections: sessions.connections,
    reminders: sessions.reminders,
    get generation() {
      return current;
    },
    swap: (next) => {
      current = next;
      sessions.connections.swapped();
      sessions.channels.start().catch((error: unknown) => log.error(`starting the channels of "${slug}"`, error));
      sessions.schedules.rearm().catch((error: unknown) => log.error(`starting the schedules of "${slug}"`, error));
      sessions.reminders.rearm().catch((error: unknown) => log.error(`starting the reminders of "${slug}"`, error));
    },
    recover: () => sessions.recover(),
    close: (graceMs) => sessions.close(graceMs),
  };
}
