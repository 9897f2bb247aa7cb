/** Starts evaluation children, watches over them, and takes their whole process group down with them. */
import { type ChildProcess, fork } from "node:child_process";
import { existsSync } from "node:fs";
import { distFile } from "../link/package-folder.js";
import type { ChildMessage, EntryOutcome, EvaluationRun, RunReport } from "./protocol.js";

/** How a run went. Without a report the child was stopped or died. */
export interface RunResult {
  readonly report?: RunReport;
  /** Outcomes of guarded entries, in the order they ended. */
  readonly outcomes: readonly EntryOutcome[];
  /** The guarded entry that was loading when there was no end. */
  readonly unfinished?: { readonly slug: string; readonly id: string };
  /** The innermost module that was loading then. */
  readonly module?: string;
  /** Why there is no report. */
  readonly stopped?: { readonly reason: "timeout" } | { readonly reason: "died"; readonly how: string };
  /** What the project printed, its end. */
  readonly output: string;
}

/** A child for several runs, one after another. After one that was stopped a new process takes over. */
export interface EvaluationSession {
  run(run: EvaluationRun): Promise<RunResult>;
  close(): void;
}

export interface Evaluator {
  /** @param env The environment of the process itself, beneath what each run sets. */
  open(cwd: string, env: Readonly<Record<string, string>>): EvaluationSession;
  /** Starts a child ahead of its use (`bdk dev`). */
  warm(cwd: string, env: Readonly<Record<string, string>>): void;
  /** Ends every child. A run under way ends at once without a report, and so does any after it. */
  close(): void;
}

/** Milliseconds beyond its deadline that a child gets to say so itself. */
const grace = 1_000;
const outputLimit = 64 * 1024;

export function createEvaluator(): Evaluator {
  let spare: { readonly child: Child; readonly cwd: string } | undefined;
  const open = new Set<EvaluationSession>();
  let isClosed = false;
  return {
    open(cwd, env) {
      let child: Child | undefined;
      const session: EvaluationSession = {
        async run(run) {
          if (isClosed) return { outcomes: [], stopped: { reason: "died", how: "closed" }, output: "" };
          if (child === undefined && spare?.cwd === cwd && spare.child.alive()) {
            child = spare.child;
            spare = undefined;
          }
          child = child?.alive() === true ? child : startChild(cwd, env);
          return child.run(run);
        },
        close() {
          open.delete(session);
          child?.stop();
        },
      };
      open.add(session);
      return session;
    },
    warm(cwd, env) {
      if (isClosed) return;
      if (spare?.cwd === cwd && spare.child.alive()) return;
      spare?.child.stop();
      spare = { child: startChild(cwd, env), cwd };
    },
    close() {
      isClosed = true;
      for (const session of open) session.close();
      spare?.child.stop();
      spare = undefined;
    },
  };
}

interface Child {
  run(run: EvaluationRun): Promise<RunResult>;
  alive(): boolean;
  stop(): void;
}

function startChild(cwd: string, env: Readonly<Record<string, string>>): Child {
  const file = distFile("evaluate/child.js");
  if (!existsSync(file)) throw new Error(`${file} is missing: build @cursor/bdk first (node scripts/build.mjs)`);
  const child = fork(file, [], {
    cwd,
    env: { ...env },
    execArgv: [],
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const printed: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      printed.push(text);
      if (printed.length > 256) printed.splice(0, printed.length, printed.join("").slice(-outputLimit));
    });
  }
  child.on("error", () => kill(child));
  endWithUs(child);
  child.unref();
  child.channel?.unref();
  return {
    run: (run) => runIn(child, run, printed),
    alive: () => child.exitCode === null && child.signalCode === null && child.connected,
    stop: () => kill(child),
  };
}

function runIn(child: ChildProcess, run: EvaluationRun, printed: string[]): Promise<RunResult> {
  printed.length = 0;
  return new Promise((resolve) => {
    const outcomes: EntryOutcome[] = [];
    let unfinished: { readonly slug: string; readonly id: string } | undefined;
    let module: string | undefined;
    let timer: NodeJS.Timeout | undefined;

    const end = (rest: Pick<RunResult, "report" | "stopped">): void => {
      clearTimeout(timer);
      child.off("message", receive).off("exit", exited);
      child.channel?.unref();
      const place = {
        ...(unfinished === undefined ? {} : { unfinished }),
        ...(module === undefined ? {} : { module }),
      };
      resolve({
        ...rest,
        ...(rest.report === undefined ? place : {}),
        outcomes,
        output: printed.join("").slice(-outputLimit),
      });
    };
    const rearm = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        kill(child);
        end({ stopped: { reason: "timeout" } });
      }, run.timeoutMs + grace);
    };
    const receive = (message: ChildMessage): void => {
      rearm();
      if (message.type === "loading") unfinished = { slug: message.slug, id: message.id };
      else if (message.type === "module") module = message.key;
      else if (message.type === "entry") outcomes.push(message.outcome);
      else if (message.type === "report") end({ report: message.report });
    };
    const exited = (code: number | null, signal: string | null): void => {
      end({ stopped: { reason: "died", how: signal ?? `exit code ${code}` } });
    };
    child.on("message", receive).on("exit", exited);
    child.channel?.ref();
    rearm();
    if (child.connected) child.send(run);
    else exited(child.exitCode, child.signalCode);
  });
}

/** Children that run. Each leads a process group of its own, so what ends us does not reach them. */
const running = new Set<ChildProcess>();
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** A child that is stuck in the project's code would not even see that we are gone. */
function endWithUs(child: ChildProcess): void {
  if (running.size === 0) {
    for (const signal of signals) process.on(signal, interrupted);
    process.on("exit", killAll);
  }
  running.add(child);
  child.once("exit", () => {
    running.delete(child);
    if (running.size === 0) standDown();
  });
}

function standDown(): void {
  for (const signal of signals) process.off(signal, interrupted);
  process.off("exit", killAll);
}

function interrupted(signal: NodeJS.Signals): void {
  killAll();
  standDown();
  // Nobody else has a say: the signal does what it does without us.
  if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
}

function killAll(): void {
  for (const child of running) kill(child);
}

/** Ends the child and everything it started. */
function kill(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch (error) {
    // It ended between the look and the signal.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
