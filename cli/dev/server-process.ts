import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import type { EntryOutcome } from "../../compiler/index.js";
import { ownPackage } from "../package-root.js";
import type { FromServer, Generation, PatchCode, PatchCommit, ServerOptions, ToServer } from "./protocol.js";

export type Listening = Extract<FromServer, { kind: "listening" }>;

/** How a server process ended by itself. */
export interface Crash {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The process would not take the code, or could not start. */
export class ServerRefusal extends Error {
  override readonly name = "ServerRefusal";
  readonly reason: "code" | "startup";

  constructor(message: string, reason: "code" | "startup") {
    super(message);
    this.reason = reason;
  }
}

/** The process ended, or had to be ended, before it answered. */
export class ServerGone extends Error {
  override readonly name = "ServerGone";
  /** It was running the code of a patch, and nothing that it ran before. */
  isPatching = false;
}

export interface ServerProcess {
  readonly pid: number | undefined;
  start(generation: Generation, options: ServerOptions): Promise<Listening>;
  /** Rejects with `ServerRefusal` when the code does not load; with `ServerGone` when the process died or hung. */
  swap(generation: Generation): Promise<void>;
  /** Runs a patch and says what its definitions are; `commit` makes it the code that is served. Both reject as `swap` does. */
  patch(patch: PatchCode): Promise<readonly EntryOutcome[]>;
  commit(commit: PatchCommit): Promise<void>;
  /** Lets turns settle, then ends the process; kills it after a while. */
  close(): Promise<void>;
}

/** A swap takes milliseconds; a process that has not answered by now is stuck in project code. */
const swapLimitMs = 5_000;
const startLimitMs = 30_000;
const closeLimitMs = 12_000;

/** Starts the process. `onCrash` is called once when it ends without having been asked to. */
export function createServerProcess(onCrash: (crash: Crash) => void): ServerProcess {
  const child: ChildProcess = fork(join(ownPackage().root, "dist/cli/dev/child.js"), [], {
    serialization: "advanced",
    // What project code prints on stdout must not mix with ours.
    stdio: ["ignore", 2, 2, "ipc"],
    execArgv: ["--enable-source-maps"],
  });
  let closing = false;
  let alive = true;
  /** The one request under way. */
  let settle: ((answer: FromServer | ServerGone) => void) | undefined;

  const exited = new Promise<void>((resolve) => {
    child.once("exit", (code, signal) => {
      alive = false;
      settle?.(new ServerGone(`the server process ended (${signal ?? `exit code ${code}`})`));
      resolve();
      if (!closing) onCrash({ code, signal });
    });
  });
  child.on("error", (error) => settle?.(new ServerGone(error.message)));
  child.on("message", (message: FromServer) => settle?.(message));

  /** Sends a request and waits for one of the answers to it. */
  function request(message: ToServer, id: number, limitMs: number): Promise<FromServer> {
    let isPatching = false;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        settle?.(new ServerGone(`the server process did not answer for ${limitMs / 1000} s`));
        child.kill("SIGKILL");
      }, limitMs);
      settle = (answer) => {
        if (!(answer instanceof Error) && (!("id" in answer) || answer.id !== id)) return;
        if (!(answer instanceof Error) && answer.kind === "patching") {
          isPatching = true;
          return;
        }
        clearTimeout(timer);
        settle = undefined;
        if (answer instanceof Error) reject(Object.assign(answer, { isPatching }));
        else if (answer.kind === "refused") reject(new ServerRefusal(answer.message, answer.reason));
        else resolve(answer);
      };
      if (!alive) settle(new ServerGone("the server process has ended"));
      else child.send(message, (error) => error !== null && settle?.(new ServerGone(error.message)));
    });
  }

  return {
    pid: child.pid,
    async start(generation, options) {
      const answer = await request({ kind: "start", generation, options }, generation.id, startLimitMs);
      if (answer.kind !== "listening") throw new ServerGone(`the server process answered ${answer.kind} to start`);
      return answer;
    },
    async swap(generation) {
      await request({ kind: "swap", generation }, generation.id, swapLimitMs);
    },
    async patch(patch) {
      const answer = await request({ kind: "patch", patch }, patch.id, swapLimitMs);
      return answer.kind === "patched" ? answer.outcomes : [];
    },
    async commit(commit) {
      await request({ kind: "commit", commit }, commit.id, swapLimitMs);
    },
    async close() {
      closing = true;
      if (!alive) return;
      const timer = setTimeout(() => child.kill("SIGKILL"), closeLimitMs);
      if (child.connected) child.send({ kind: "close" } satisfies ToServer, () => undefined);
      await exited;
      clearTimeout(timer);
    },
  };
}
