/** Sees to it that no server outlives the host, however that ends: also by SIGKILL, when none of its own code runs. */
import { type ChildProcess, spawn } from "node:child_process";

/**
 * A shell that keeps the list of groups that run, one line a change. The end of its input is the end of the host: then it
 * ends what is on the list. It never acts while the host lives, so no number can have become somebody else's.
 */
const script = `
groups=
while read -r change group; do
  if [ "$change" = + ]; then groups="$groups $group"; continue; fi
  rest=
  for each in $groups; do [ "$each" = "$group" ] || rest="$rest $each"; done
  groups=$rest
done
for each in $groups; do kill -s KILL -- "-$each"; done
`;

const running = new Set<number>();
let watcher: ChildProcess | undefined;
let isWatchingExit = false;

/** Ends the group with the host, unless it is called off first. */
export function endWithHost(group: number): () => void {
  running.add(group);
  watchExit();
  tell(`+ ${group}`);
  return () => {
    if (!running.delete(group)) return;
    tell(`- ${group}`);
    if (running.size > 0) return;
    watcher?.stdin?.end();
    watcher = undefined;
  };
}

/** Ends a group of processes; that it is gone already is no error. */
export function killGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch (error) {
    // Nobody of the group is left, or what is left is not ours to end.
    if (!(error instanceof Error && "code" in error && (error.code === "ESRCH" || error.code === "EPERM"))) throw error;
  }
}

function tell(line: string): void {
  watcher ??= startWatcher();
  watcher?.stdin?.write(`${line}\n`);
}

function startWatcher(): ChildProcess | undefined {
  if (process.platform === "win32") return undefined;
  // A session of its own: what a terminal sends to the host's group is not meant for it.
  const child = spawn("/bin/sh", ["-c", script], { detached: true, env: {}, stdio: ["pipe", "ignore", "ignore"] });
  const gone = () => {
    if (watcher === child) watcher = undefined;
  };
  // Where there is no shell, servers see the end of their input, and that has to do.
  child.on("error", gone);
  child.stdin.on("error", gone);
  child.unref();
  if ("unref" in child.stdin && typeof child.stdin.unref === "function") child.stdin.unref();
  return child;
}

/** A host that ends without closing ends them itself, at once. */
function watchExit(): void {
  if (isWatchingExit) return;
  isWatchingExit = true;
  process.once("exit", () => {
    for (const group of running) killGroup(group, "SIGKILL");
  });
}
