/** Emitted servers whose clock the test sets: by a preload, so that the product knows nothing of it. */
import { type ChildProcess, spawn } from "node:child_process";
import { join, resolve } from "node:path";
import { onTestFinished } from "vitest";
import type { Emitted } from "./emitted.js";
import { killed } from "./killed.js";

const preload = resolve("test/runtime/shift-clock.mjs");

export interface TimedServer {
  /** URL once it serves. */
  readonly listening: Promise<string>;
  /** What it says when it stands by. */
  readonly standby: Promise<{ readonly pid: number; readonly url?: string }>;
  readonly pid: number;
  readonly stderr: () => string;
  /** Sends a signal; resolves with the exit code once the process is gone. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

export interface Time {
  /** ISO-8601 instant that the clock shows at `since`. */
  readonly from: string;
  /** Real milliseconds since the epoch. */
  readonly since: number;
  readonly scale?: number;
}

/** Starts `server.mjs` with further flags; killed when the test is over. */
export function startTimed({ work }: Emitted, time: Time | undefined, flags: readonly string[] = []): TimedServer {
  const defaults = ["--port", "0", "--json", "--mode", "single", "--state-root", join(work, "state")];
  const args = [join(work, "out/server.mjs"), ...defaults, ...flags];
  const child: ChildProcess = spawn(process.execPath, [...(time ? ["--import", preload] : []), ...args], {
    cwd: work,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      XDG_CACHE_HOME: join(work, "cache"),
      ...(time && { TIME_FROM: time.from, TIME_SINCE: String(time.since), TIME_SCALE: String(time.scale ?? 1) }),
    },
  });
  let stdout = "";
  let stderr = "";
  const exited = new Promise<number | null>((done) => child.once("exit", done));
  const said = (event: string) =>
    new Promise<Record<string, unknown>>((done, fail) => {
      const look = () => {
        for (const line of stdout.split("\n").slice(0, -1)) {
          const fact = JSON.parse(line) as Record<string, unknown>;
          if (fact.event === event) done(fact);
        }
      };
      child.stdout?.on("data", look);
      void exited.then((code) => fail(new Error(`the server exited with ${code}: ${stderr}`)));
    });
  child.stdout?.on("data", (chunk) => {
    stdout += String(chunk);
  });
  child.stderr?.on("data", (chunk) => {
    stderr += String(chunk);
  });
  const listening = said("listening").then(({ url }) => String(url));
  const standby = said("standby").then((fact) => fact as unknown as { pid: number; url?: string });
  listening.catch(() => undefined);
  standby.catch(() => undefined); // whoever waits for it is told
  onTestFinished(() => killed(child));
  return {
    listening,
    standby,
    pid: child.pid ?? 0,
    stderr: () => stderr,
    end(signal) {
      child.kill(signal);
      return exited;
    },
  };
}
