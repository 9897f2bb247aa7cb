import pc from "picocolors";

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

export function createSink(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv = process.env): Sink {
  let gone = false;
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE" && error.code !== "ERR_STREAM_DESTROYED") throw error;
    gone = true;
  });
  const write = (text: string) =>
    new Promise<void>((resolve) => {
      if (gone || text === "") resolve();
      else stream.write(text, () => resolve());
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
