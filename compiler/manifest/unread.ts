/** What the manifest says of a definition that could not be read, because it waits for its environment. */
import type { Definition } from "../analyze/definition.js";
import type { Facts } from "../evaluate/protocol.js";

const dynamic = { dynamic: true } as const;

/** Literal fields where syntax shows them; else the mark of what only the running server knows. */
export function unreadFacts({ entry, literals, define }: Definition): Facts {
  const literal = (field: string): unknown => literals[field];
  switch (entry.kind) {
    case "tool":
      return {
        description: literal("description") ?? dynamic,
        execution: literal("execution") ?? "server",
        effect: literal("effect") ?? "write",
        // Of what is unknown, the careful reading.
        needsApproval: literal("needsApproval") ?? true,
        validates: "none",
        inputSchema: { type: "object" },
      };
    case "skill":
      return { description: literal("description") ?? dynamic, markdown: dynamic, files: {} };
    case "subagent":
      return { description: literal("description") ?? dynamic };
    case "instructions":
      return { text: dynamic };
    case "agent":
      return { model: dynamic };
    case "mcp-connection":
    case "host-connection":
      return { transport: "dynamic", target: dynamic };
    case "channel":
      return { routes: [], events: [] };
    case "hook":
      return { events: [] };
    case "schedule":
      return { cron: literal("cron") ?? "", form: "run" };
    case "extension":
      return define === "cursorPlugin" ? {} : { description: dynamic };
    case "artifacts":
      return { kinds: [], agentTool: false, max: 1000 };
    default:
      return {};
  }
}
