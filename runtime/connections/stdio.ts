/** A server as a child process: a group of its own, without the host's environment, ended with the host. */
import { type ChildProcess, spawn } from "node:child_process";
import { type JSONRPCMessage, ReadBuffer, serializeMessage, type Transport } from "@modelcontextprotocol/client";
import { ConnectionError } from "./error.js";
import { endWithHost, killGroup } from "./stdio-watch.js";

/** Variables that programs need to be found and to run; nothing else of the host's is passed on. */
const passedOn = ["PATH", "HOME", "LOGNAME", "USER", "SHELL", "TERM", "LANG", "TZ", "TMPDIR"] as const;

/** How long a server may take to end by itself once its input is closed, and again after SIGTERM, in milliseconds. */
const graceMs = 1_000;

/** Lines of stderr that are logged in a second: the log is for everybody. */
const mostLines = 100;

/** Longest line of stderr that is logged, in characters. */
const longestLine = 2_000;

export interface StdioServer {
  readonly command: string;
  readonly args: readonly string[];
  /** Set beside what every program needs. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Told each line that the server writes to stderr. */
  readonly onLine: (line: string) => void;
}

/** The environment of a server: what programs need, then its own. */
export function serverEnvironment(own: Readonly<Record<string, string>>): Record<string, string> {
  const base: Record<string, string> = {};
  for (const name of passedOn) {
    const value = process.env[name];
    if (value !== undefined) base[name] = value;
  }
  return { ...base, ...own };
}

/** Speaks to a server over its standard streams, one JSON message a line. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #server: StdioServer;
  readonly #buffer = new ReadBuffer();
  #child: ChildProcess | undefined;
  #gone: Promise<void> = Promise.resolve();

  constructor(server: StdioServer) {
    this.#server = server;
  }

  start(): Promise<void> {
    const { command, args, env, cwd, onLine } = this.#server;
    const child = spawn(command, [...args], {
      cwd,
      env: serverEnvironment(env),
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#child = child;
    let isOver: () => void = () => undefined;
    this.#gone = new Promise((resolve) => {
      child.once("close", () => {
        if (child.pid !== undefined) {
          // What it started and left behind goes with it.
          killGroup(child.pid, "SIGKILL");
        }
        isOver();
        resolve();
        this.onclose?.();
      });
    });
    child.stdin.on("error", (error) => this.onerror?.(error));
    child.stdout.on("data", (chunk: Buffer) => this.#read(chunk));
    child.once("exit", () => {
      // A process of its group may hold the pipes open: the server itself is gone.
      if (child.pid !== undefined) killGroup(child.pid, "SIGKILL");
    });
    readLines(child.stderr, onLine);
    return new Promise((resolve, reject) => {
      child.once("spawn", () => {
        if (child.pid !== undefined) isOver = endWithHost(child.pid);
        resolve();
      });
      child.once("error", (error) => reject(cannotStart(command, error)));
    });
  }

  #read(chunk: Buffer): void {
    try {
      this.#buffer.append(chunk);
    } catch (error) {
      // A message beyond all measure: nothing after it can be trusted.
      this.onerror?.(toError(error));
      void this.close();
      return;
    }
    for (;;) {
      try {
        const message = this.#buffer.readMessage();
        if (message === null) return;
        this.onmessage?.(message);
      } catch (error) {
        // A line that is no message; the next one may be.
        this.onerror?.(toError(error));
      }
    }
  }

  send(message: JSONRPCMessage): Promise<void> {
    const input = this.#child?.stdin;
    if (input?.writable !== true) {
      return Promise.reject(new ConnectionError("connection_unreachable", "its process has ended"));
    }
    return new Promise((resolve, reject) => {
      input.write(serializeMessage(message), (error) => (error ? reject(notRead(error)) : resolve()));
    });
  }

  async close(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    const pid = child?.pid;
    if (child === undefined || pid === undefined) return;
    child.stdin?.end();
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      if (await settlesWithin(this.#gone, graceMs)) return;
      killGroup(pid, signal);
    }
    await this.#gone;
  }
}

async function settlesWithin(promise: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const settled = await Promise.race([promise.then(() => true), late]);
  clearTimeout(timer);
  return settled;
}

function readLines(stream: NodeJS.ReadableStream, tell: (line: string) => void): void {
  let rest = "";
  let second = 0;
  let told = 0;
  let leftOut = 0;
  const onLine = (line: string) => {
    const now = Math.floor(performance.now() / 1000);
    if (now !== second) {
      if (leftOut > 0) tell(`(${leftOut} more lines, which are left out)`);
      [second, told, leftOut] = [now, 0, 0];
    }
    told += 1;
    if (told > mostLines) leftOut += 1;
    else tell(line);
  };
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = (lines.pop() ?? "").slice(0, longestLine);
    for (const line of lines) if (line.trim() !== "") onLine(line.trimEnd().slice(0, longestLine));
  });
  stream.on("end", () => {
    if (rest.trim() !== "") onLine(rest.trimEnd());
  });
}

function cannotStart(command: string, error: Error): ConnectionError {
  const code = "code" in error ? error.code : undefined;
  const reason =
    code === "ENOENT"
      ? "there is no such program, or no such working directory"
      : typeof code === "string"
        ? code
        : error.message;
  return new ConnectionError("connection_unreachable", `"${command}" can't be started: ${reason}`);
}

/** `EPIPE`: mostly it ended as soon as it began, and said why on stderr. */
function notRead(error: Error): Error {
  if (!("code" in error) || error.code !== "EPIPE") return error;
  const told = "its program has ended, or reads nothing; what it wrote to stderr is in the log";
  return new ConnectionError("connection_unreachable", told, { isUnknown: true });
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
