/** A journal of every turn, for later sessions to read. `bdk init` scaffolds it as `bot/hooks/memory.ts`. */
import type { HookContext, HookDefinition } from "./hooks.js";

/** One turn, as it goes into the journal. */
export interface MemoryEntry {
  readonly sessionId: string;
  /** ISO-8601. */
  readonly at: string;
  /** What was asked; several messages of one turn, a blank line between. */
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
  async append({ at, sessionId, message, reply }, ctx) {
    const text = `## ${at} (${sessionId})\n\n**Asked:** ${inline(message)}\n\n**Answered:** ${inline(reply)}\n\n`;
    await ctx.host.files.append(journalPath, text, { scope: "deployment" });
  },
};

/** A text that can't begin an entry of its own: headings in it are quoted. */
function inline(text: string): string {
  return text.trim().replaceAll(/^(#{1,6} )/gm, "\\$1");
}

type MemoryEvents = "message.received" | "message.completed" | "turn.completed" | "turn.failed";

/** What `memoryHook` returns. */
export type MemoryHookDefinition = HookDefinition<MemoryEvents> & { readonly pack: "memory" };

/**
 * A hook that journals each completed turn of live sessions, shared by all sessions of the agent. Turns of evals and dry
 * runs, and turns that failed, are left out.
 *
 * @param backend Default: `memory/journal.md` among the deployment's files, copied into every session's workspace.
 * @example export default memoryHook();
 */
export function memoryHook(backend: MemoryBackend = journal): MemoryHookDefinition {
  const open = new Map<string, { message: string; reply: string }>();
  const keyOf = ({ sessionId, turnId = "" }: { readonly sessionId: string; readonly turnId?: string }) =>
    `${sessionId} ${turnId}`;
  return {
    __agentServe: "hook",
    pack: "memory",
    events: {
      "message.received"(event) {
        const turn = open.get(keyOf(event)) ?? { message: "", reply: "" };
        turn.message = turn.message === "" ? event.data.text : `${turn.message}\n\n${event.data.text}`;
        open.set(keyOf(event), turn);
      },
      "message.completed"(event) {
        const turn = open.get(keyOf(event));
        if (turn !== undefined && event.data.finishReason === "stop" && event.data.parentCallId === undefined) {
          turn.reply = event.data.text;
        }
      },
      async "turn.completed"(event, ctx) {
        const turn = open.get(keyOf(event));
        open.delete(keyOf(event));
        const isLive = ctx.session.purpose !== "eval" && ctx.session.dryRun !== true;
        if (turn === undefined || turn.reply === "" || !isLive) return;
        await backend.append({ sessionId: event.sessionId, at: event.at, ...turn }, ctx);
      },
      "turn.failed"(event) {
        open.delete(keyOf(event));
      },
    },
  };
}
