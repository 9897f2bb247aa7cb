import type { Sink } from "./sink.js";

/** Says what is being done: one line that changes on a terminal, one plain line a step elsewhere. */
export interface Progress {
  step(what: string): void;
  /** Takes the line away. */
  done(): void;
}

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const frameMs = 80;
const clear = "\r\u001b[K";

/** `silent` is for `--json`, where nobody looks. */
export function createProgress(sink: Sink, title: string, silent = false): Progress {
  if (silent) return { step: () => undefined, done: () => undefined };
  if (!sink.isTerminal) {
    return { step: (what) => void sink.line(`${title}: ${what}`), done: () => undefined };
  }
  let frame = 0;
  let current = "";
  let timer: NodeJS.Timeout | undefined;
  const draw = () => {
    const mark = frames[frame++ % frames.length] ?? "";
    void sink.write(`${clear}${sink.colors.cyan(mark)} ${title} ${sink.colors.dim(current)}`);
  };
  return {
    step(what) {
      current = what;
      draw();
      timer ??= setInterval(draw, frameMs).unref();
    },
    done() {
      clearInterval(timer);
      if (timer !== undefined) void sink.write(clear);
      timer = undefined;
    },
  };
}
