/** Reminders by a clock that the test moves, over the real file store. */
import { allSections } from "../../../cli/api/sections.js";
import type { OfflineScript } from "../../../runtime/harness/offline/script.js";
import type { AgentManifest } from "../../../runtime/manifest/schema.js";
import type { AgentSessions } from "../../../runtime/storage/agent-sessions.js";
import { clockAt, type TestClock } from "./clock.js";
import { agentOf, alice, openSessions, run, type TestTool, tempDir } from "./sessions.js";

export interface OpenedReminders {
  readonly sessions: AgentSessions;
  readonly clock: TestClock;
  readonly lines: string[];
  readonly root: string;
  readonly api: ReturnType<AgentSessions["reminders"]["api"]>;
}

type Handlers = Readonly<Record<string, unknown>>;

export interface MoreOfReminders {
  readonly root?: string;
  readonly handlers?: Handlers;
  readonly tools?: Readonly<Record<string, TestTool>>;
  readonly script?: OfflineScript;
  readonly manifest?: Partial<AgentManifest>;
}

export async function openReminders(
  at: string,
  { root = tempDir(), handlers = {}, tools, script, manifest }: MoreOfReminders = {},
) {
  const clock = clockAt(at);
  const lines: string[] = [];
  const code = agentOf({
    ...(tools && { tools }),
    manifest: {
      reminders: Object.keys(handlers).map((name) => ({
        id: `reminder:${name}`,
        name,
        source: `bot/reminders/${name}.ts:1`,
        layer: "project",
      })),
      ...manifest,
    },
  });
  const definitions = {
    ...code.definitions,
    ...Object.fromEntries(Object.entries(handlers).map(([name, handler]) => [`reminder:${name}`, handler])),
  };
  const generation = { ...code, definitions };
  const sessions = await openSessions({
    root,
    ...(script && { script }),
    options: {
      clock,
      sections: allSections,
      generation: () => generation,
      log: (level, message) => lines.push(`${level} ${message}`),
    },
  });
  await sessions.reminders.start();
  return { sessions, clock, lines, root, api: sessions.reminders.api(undefined) } satisfies OpenedReminders;
}

/** Makes a conversation of channel `drive`. */
export async function converse({ sessions }: OpenedReminders, continuationKey = "pr:1"): Promise<string> {
  return (await run(sessions, "hello", { channelId: "drive", continuationKey })).sessionId;
}

export async function heard({ sessions }: OpenedReminders, sessionId: string): Promise<string[]> {
  await sessions.settled(sessionId);
  const messages: string[] = [];
  for await (const lines of await sessions.read({ ...alice, seesAll: true }, sessionId, 0)) {
    for (const line of lines) {
      const event = JSON.parse(line) as { type: string; data: { text: string } };
      if (event.type === "message.received") messages.push(event.data.text);
    }
  }
  return messages.slice(1);
}

export const target = { purpose: "ci", channelId: "drive", continuationToken: "pr:1" };
