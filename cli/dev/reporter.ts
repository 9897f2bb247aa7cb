import { type CodeName, codes } from "../../compiler/diagnostics/codes.js";
import type { Diagnostic } from "../../compiler/diagnostics/diagnostic.js";
import { toJson } from "../../compiler/diagnostics/render.js";
import { renderDiagnostics, summarize } from "../ui/diagnostics.js";
import { listeningEvent, writeListening } from "../ui/listening.js";
import { formatMs } from "../ui/size.js";
import type { Terminal } from "../ui/terminal.js";
import type { Crash, Listening } from "./server-process.js";

export interface Rebuilt {
  /** From the first file event to the new code answering. */
  readonly ms: number;
  /** POSIX paths relative to the project folder. */
  readonly changed: readonly string[];
  readonly generation: number;
}

/** How `bdk dev` tells what happens: to a person, or as one JSON event a line. */
export interface DevReporter {
  listening(server: Listening): void;
  rebuilt(rebuilt: Rebuilt): void;
  /** `isServing`: older code answers meanwhile. Told again only when it has changed. */
  diagnostics(diagnostics: readonly Diagnostic[], isServing: boolean): void;
  crashed(crash: Crash, restarts: boolean): void;
  error(code: CodeName, message: string): void;
}

/** Tells whether the findings differ from those told last. */
function createMemory(): (diagnostics: readonly Diagnostic[]) => boolean {
  let last = "[]";
  return (diagnostics) => {
    const text = JSON.stringify(diagnostics);
    const isNew = text !== last;
    last = text;
    return isNew;
  };
}

function crashText({ code, signal }: Crash): string {
  return `the server process ended by itself (${signal ?? `exit code ${code}`})`;
}

export function createJsonReporter({ out }: Terminal): DevReporter {
  const isNews = createMemory();
  const emit = (event: object) => void out.line(JSON.stringify(event));
  return {
    listening: (server) => emit(listeningEvent(server)),
    rebuilt: ({ ms, changed, generation }) =>
      emit({ event: "rebuilt", ms: Math.round(ms * 10) / 10, changed, generation }),
    diagnostics(diagnostics) {
      if (!isNews(diagnostics)) return;
      const count = (severity: string) => diagnostics.filter((each) => each.severity === severity).length;
      emit({
        event: "diagnostics",
        errors: count("error"),
        warnings: count("warning"),
        diagnostics: diagnostics.map(toJson),
      });
    },
    crashed: (crash, restarts) =>
      emit({
        event: "error",
        code: codes.serverCrashed.code,
        message: crashText(crash),
        ...(crash.code === null ? {} : { exitCode: crash.code }),
        restarts,
      }),
    error: (name, message) => emit({ event: "error", code: codes[name].code, message }),
  };
}

export function createTerminalReporter(terminal: Terminal, root: string): DevReporter {
  const isNews = createMemory();
  const { out, err } = terminal;
  const { dim, green, red, yellow } = out.colors;
  const say = (text: string) => void out.line(`${dim(new Date().toTimeString().slice(0, 8))} ${text}`);
  let isFirst = true;
  return {
    listening(server) {
      if (isFirst) void writeListening(out, server);
      else say(`${green("serving again")} on ${server.url}`);
      isFirst = false;
    },
    rebuilt({ ms, changed }) {
      const shown = changed.slice(0, 3).join(", ") + (changed.length > 3 ? ` and ${changed.length - 3} more` : "");
      say(`${green("swapped")} in ${formatMs(ms)} ${dim(shown)}`);
    },
    diagnostics(diagnostics, isServing) {
      if (!isNews(diagnostics) || diagnostics.length === 0) return;
      void err.write(renderDiagnostics(diagnostics, root, "pretty", err));
      const isBroken = diagnostics.some((each) => each.severity === "error");
      if (isBroken)
        say(
          `${red(summarize(diagnostics))}${isServing ? "; the last good code keeps serving" : "; waiting for an edit"}`,
        );
      else say(yellow(summarize(diagnostics)));
    },
    crashed(crash, restarts) {
      say(
        `${red(codes.serverCrashed.code)} ${crashText(crash)}; ${restarts ? "starting it again with the last good code" : "waiting for an edit"}`,
      );
    },
    error: (name, message) => void err.line(`${red(codes[name].code)} ${message}`),
  };
}
