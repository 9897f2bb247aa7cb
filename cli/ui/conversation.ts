import type { JsonValue, SessionEvent } from "../../runtime/session/event.js";
import { plainLine, plainText } from "./plain.js";
import type { Terminal } from "./terminal.js";

/** Shows a turn as it happens: the reply on stdout, everything about it on stderr. */
export function createConversation({ out, err }: Terminal): (event: SessionEvent) => Promise<void> {
  const { dim, red, yellow, green } = err.colors;
  let isLineOpen = false;
  const endLine = async () => {
    if (isLineOpen) await out.line();
    isLineOpen = false;
  };
  const note = async (text: string) => {
    if (out.isTerminal) await endLine();
    await err.line(text);
  };
  return async (event) => {
    switch (event.type) {
      case "message.appended":
        if (event.data.parentCallId !== undefined || event.data.delta === "") return;
        await out.write(out.isTerminal ? plainText(event.data.delta) : event.data.delta);
        isLineOpen = !event.data.delta.endsWith("\n");
        return;
      case "message.completed":
        return endLine();
      case "actions.requested":
        for (const call of event.data.calls) await note(dim(`→ ${call.toolName} ${brief(call.args ?? {})}`));
        return;
      case "action.result": {
        const { toolName, isError, output, durationMs, stubbed } = event.data;
        const mark = isError ? red("✗") : green("✓");
        const about = [stubbed === true ? "stubbed" : `${durationMs} ms`, isError ? brief(output ?? null) : ""];
        return note(`${mark} ${dim(`${toolName} ${about.join(" ").trim()}`)}`);
      }
      case "action.approval_requested":
        return note(`${yellow("?")} ${event.data.toolName} waits for approval (${event.data.callId})`);
      case "turn.failed":
        return note(
          `${red(event.data.status === "cancelled" ? "stopped" : "failed")}: ${plainText(event.data.message)}`,
        );
      case "session.failed":
        return note(`${red("failed")}: ${plainText(event.data.message)}`);
      default:
        return;
    }
  };
}

function brief(value: JsonValue): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return plainLine(text.length > 200 ? `${text.slice(0, 199)}…` : text);
}
