/** A journal of every turn, for later sessions to read. `bdk init` scaffolds it as `bot/hooks/memory.ts`. */
import type { HookContext, HookDefinition } from "./hooks.js";

/** One turn, as it goes into the journal. */
export interface MemoryEntry {
  readonly sessionId: string;
  /** ISO-8601. */
  readonly at: string;
  /** What was asked. */
  readonly message: string;
  /** What was answered. */
  readonly reply: string;
}

/** Where the journal is kept. */
export interface MemoryBackend {
  /** Adds an entry; calls may overlap. */
  append(entry: MemoryEntry, ctx: HookContext): Promise<void>;
}

/** The journal's path among the deployment's files. */
const journalPath = "memory/journal.md";

const journal: MemoryBackend = {
  async append(entry, ctx) {
    const text = `## ${entry.at} (${entry.sessionId})\n\n**Asked:** ${entry.message}\n\n**Answered:** ${entry.reply}\n\n`;
    await ctx.host.files.append(journalPath, text, { scope: "deployment" });
  },
};

/** What `memoryHook` returns. */
export type MemoryHookDefinition = HookDefinition<"message.received" | "message.completed" | "turn.completed"> & {
  readonly pack: "memory";
};

/**
 * A hook that journals each completed turn of live sessions, shared by all sessions of the agent.
 *
 * @param backend Default: `memory/journal.md` among the deployment's files.
 * @example export default memoryHook();
 */
export function memoryHook(backend: MemoryBackend = journal): MemoryHookDefinition {
  const open = new Map<string, { message: string; reply: string }>();
  return {
    __agentServe: "hook",
    pack: "memory",
    events: {
      "message.received"(event) {
        open.set(event.sessionId, { message: event.data.text, reply: "" });
      },
      "message.completed"(event) {
        const turn = open.get(event.sessionId);
        if (turn !== undefined && event.data.finishReason === "stop" && event.data.parentCallId === undefined) {
          turn.reply = event.data.text;
        }
      },
      async "turn.completed"(event, ctx) {
        const turn = open.get(event.sessionId);
        open.delete(event.sessionId);
        if (turn === undefined || turn.reply === "" || ctx.session.purpose === "eval") return;
        await backend.append({ sessionId: event.sessionId, at: event.at, ...turn }, ctx);
      },
    },
  };
}
