/** A server as a process of its own, to be signalled. */
import { type ChildProcess, spawn } from "node:child_process";
import { onTestFinished } from "vitest";
import { listeningUrl } from "../../bench/measure.mjs";

export interface ServerProcess {
  readonly url: string;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
  signal(name: NodeJS.Signals): void;
  stderr(): string;
}

/** Starts `node <args>`, which is to print `{"event":"listening",…}` first. */
export function startServer(
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<ServerProcess> {
  const child: ChildProcess = spawn(process.execPath, args, {
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    env: { ...process.env, ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = new Promise<number | NodeJS.Signals | null>((done) => {
    child.once("exit", (code, signal) => done(code ?? signal));
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return new Promise((done, fail) => {
    let stdout = "";
    void ended.then((how) => fail(new Error(`the server ended (${how}): ${stderr}${stdout}`)));
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      const [first = "", ...rest] = stdout.split("\n");
      // A refusal may be JSON too, over several lines.
      const url = rest.length > 0 && first.endsWith("}") ? listeningUrl(first) : undefined;
      if (url === undefined) return;
      done({ url, ended, signal: (name) => void child.kill(name), stderr: () => stderr });
    });
  });
}
