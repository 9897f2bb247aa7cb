import type { ChildProcess } from "node:child_process";

/** `kill -9`; resolves once the process is gone, so that it writes into no folder that is being removed. */
export async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((done) => child.once("exit", done));
  child.kill("SIGKILL");
  await gone;
}
