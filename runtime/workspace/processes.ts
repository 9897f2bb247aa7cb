/** Processes that work for a session: in the working directory, without the server's secrets, and gone when told so. */
import { type ChildProcess, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { SandboxUnavailable, sandboxed } from "./sandbox.js";
import { ToolFailure } from "./tools/tool.js";

/** How long a process group may take to end after SIGTERM, in milliseconds. */
const graceMs = 2_000;
/** How long what a process left running may keep its pipes open, in milliseconds. */
const lingerMs = 250;

export interface ProcessRequest {
  readonly command: readonly [file: string, ...args: readonly string[]];
  /** Real path of the working directory. */
  readonly root: string;
  /** Without network, and with nothing but the working directory and the system's programs in sight. */
  readonly sandbox: boolean;
  /** Files outside the working directory that a sandboxed process may read. */
  readonly readable?: readonly string[];
  /** Further variables. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Milliseconds. */
  readonly timeoutMs: number;
  /** Most bytes kept of each stream. */
  readonly maxBytes: number;
  readonly signal: AbortSignal | undefined;
}

/** How a process ended. */
export interface ProcessEnd {
  /** `undefined` when a signal ended it. */
  readonly exitCode: number | undefined;
  readonly ended: "exit" | "timeout" | "cancelled";
  readonly stdout: Captured;
  readonly stderr: Captured;
}

/** The beginning and the end of a stream. */
export interface Captured {
  readonly text: string;
  /** Bytes left out between them. */
  readonly omitted: number;
}

/** The variables that processes get: what programs need to run, and nothing of the server's own. */
export function processEnvironment(root: string): Readonly<Record<string, string>> {
  const { PATH = "/usr/local/bin:/usr/bin:/bin", LANG = "C.UTF-8", TZ } = process.env;
  return { PATH, LANG, HOME: root, TMPDIR: tmpdir(), TERM: "dumb", NO_COLOR: "1", ...(TZ === undefined ? {} : { TZ }) };
}

/**
 * Runs a process to its end, its timeout, or until `signal` aborts; then its whole group is ended. Rejects when it can't
 * be started, or `SandboxUnavailable` when it was to be sandboxed and can't be.
 */
export async function runProcess(request: ProcessRequest): Promise<ProcessEnd> {
  const { root, timeoutMs, maxBytes, signal, input } = request;
  signal?.throwIfAborted();
  const env = { ...processEnvironment(root), ...request.variables };
  const [file, ...args] = request.sandbox
    ? await sandboxed(request.command, { root, env, readable: request.readable ?? [] })
    : request.command;
  const child = spawn(file, args, { cwd: root, env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
  const stdout = capture(child, "stdout", maxBytes);
  const stderr = capture(child, "stderr", maxBytes);

  return new Promise((resolve, reject) => {
    child.on("error", reject);
    // Not started: the error comes, and there may be no pipes at all.
    if (child.pid === undefined) return;
    // A process that doesn't read its input closes it: that is its right.
    child.stdin.on("error", () => undefined);
    child.stdin.end(input ?? "");
    let ended: ProcessEnd["ended"] = "exit";
    let exitCode: number | undefined;
    let lingering: NodeJS.Timeout | undefined;
    const stop = (why: "timeout" | "cancelled") => {
      ended = why;
      killGroup(child, "SIGTERM");
      killing = setTimeout(() => killGroup(child, "SIGKILL"), graceMs);
    };
    let killing: NodeJS.Timeout | undefined;
    const timer = setTimeout(() => stop("timeout"), timeoutMs);
    const onAbort = () => stop("cancelled");
    signal?.addEventListener("abort", onAbort, { once: true });
    const settle = () => {
      for (const each of [timer, killing, lingering]) clearTimeout(each);
      signal?.removeEventListener("abort", onAbort);
    };
    child.once("exit", (code) => {
      exitCode = code ?? undefined;
      clearTimeout(timer);
      // What it left in the background goes with it, and with that the pipes close; something that left its group may not.
      killGroup(child, "SIGKILL");
      lingering = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, lingerMs);
    });
    child.once("close", () => {
      settle();
      resolve({ exitCode, ended, stdout: stdout(), stderr: stderr() });
    });
  });
}

function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // Nobody of the group is left.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

/** Keeps the first and the last half of what may be kept; what is between is counted. */
function capture(child: ChildProcess, name: "stdout" | "stderr", maxBytes: number): () => Captured {
  const half = Math.floor(maxBytes / 2);
  let head = Buffer.alloc(0);
  let tail = Buffer.alloc(0);
  let total = 0;
  child[name]?.on("data", (chunk: Buffer) => {
    total += chunk.length;
    const free = Math.max(half - head.length, 0);
    if (free > 0) head = Buffer.concat([head, chunk.subarray(0, free)]);
    if (chunk.length > free) tail = Buffer.concat([tail, chunk.subarray(free)]).subarray(-half);
  });
  return () => {
    const omitted = total - head.length - tail.length;
    const middle = omitted === 0 ? "" : `\n… ${omitted} bytes left out …\n`;
    return {
      text: omitted === 0 ? Buffer.concat([head, tail]).toString() : head.toString() + middle + tail.toString(),
      omitted,
    };
  };
}

/** A sandbox that can't be had is told to the model, in its own words. */
export function explainSandbox(error: unknown): never {
  throw error instanceof SandboxUnavailable ? new ToolFailure(error.message) : error;
}
