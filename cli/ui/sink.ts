import pc from "picocolors";
import { failure } from "../exit.js";

export type Colors = ReturnType<typeof pc.createColors>;

/**
 * One output stream of the process. `write` resolves when the text is handed to the reader, so output of any size
 * arrives whole; a reader that has gone away (`| head -1`) is no error and ends writing quietly.
 */
export interface Sink {
  readonly colors: Colors;
  readonly isTerminal: boolean;
  /** Width of the terminal, 80 where there is none. */
  readonly columns: number;
  write(text: string): Promise<void>;
  /** As `write`, with a newline. */
  line(text?: string): Promise<void>;
}

/** Colours are for terminals: `NO_COLOR` turns them off, `FORCE_COLOR` on. */
function wantsColor(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): boolean {
  if ((env.NO_COLOR ?? "") !== "") return false;
  if ((env.FORCE_COLOR ?? "") !== "") return env.FORCE_COLOR !== "0";
  return stream.isTTY === true && env.TERM !== "dumb";
}

/** How a write fails when the reader has gone. */
const leavings: ReadonlySet<string | undefined> = new Set(["EPIPE", "ERR_STREAM_DESTROYED"]);

function unwritable({ message }: Error): Error {
  return failure("unwritableOutput", {
    message: `cannot write the output: ${message}`,
    help: "see to it that there is space left where it goes",
  });
}

export function createSink(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv = process.env): Sink {
  let gone = false;
  // Told to whoever was writing, below; an event that nobody hears would end the process.
  stream.on("error", () => {
    gone = true;
  });
  const write = (text: string) =>
    new Promise<void>((resolve, reject) => {
      if (gone || text === "") return resolve();
      stream.write(text, (error?: NodeJS.ErrnoException | null) => {
        // What can't be said on stderr can't be said anywhere.
        if (error === null || error === undefined || leavings.has(error.code) || stream === process.stderr) resolve();
        else reject(unwritable(error));
      });
    });
  return {
    colors: pc.createColors(wantsColor(stream, env)),
    isTerminal: stream.isTTY === true,
    get columns() {
      return stream.columns ?? 80;
    },
    write,
    line: (text = "") => write(`${text}\n`),
  };
}
