import { type Stats, statSync } from "node:fs";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { watch as watchFiles } from "chokidar";

/** Files that changed together. */
export interface Batch {
  /** Absolute paths, in the order they came. */
  readonly paths: readonly string[];
  /** `performance.now()` of the first of them. */
  readonly since: number;
}

export interface Watcher {
  /**
   * Says what the last build read (absolute files and folders): only changes to these count while it is `settled`. After a failed
   * build everything in the project counts, for nobody knows which missing file would mend it.
   */
  expect(inputs: readonly string[], settled: boolean): void;
  close(): Promise<void>;
}

/** Editors and `git checkout` write in bursts: wait this long for quiet, but not longer than the second. */
const quietMs = 12;
const longestMs = 150;

const neverWatched = new Set(["node_modules", ".git", ".hg", ".bdk", ".agent-serve", "dist", "coverage"]);

/** One watcher for a project folder and for what it imports from elsewhere. Resolves when it has seen every file once. */
export async function createWatcher(
  root: string,
  ignoredFolders: readonly string[],
  onBatch: (batch: Batch) => void,
): Promise<Watcher> {
  let inputs = new Set<string>();
  let outside = new Set<string>();
  let isSettled = false;
  let pending: { paths: Set<string>; since: number } | undefined;
  let timer: NodeJS.Timeout | undefined;

  const isIgnored = (path: string): boolean => {
    if (inputs.has(path)) return false;
    // Of a mounted package in node_modules, its own folder is watched, and not the packages that are installed in it.
    const top = [...outside].find((each) => isWithin(each, path)) ?? root;
    const below = relative(top, path);
    if (below === "" || isOutside(below)) return false;
    return (
      below.split(sep).some((segment) => neverWatched.has(segment)) ||
      ignoredFolders.some((each) => isWithin(each, path))
    );
  };
  const counts = (path: string): boolean => {
    if (!isSettled) return true;
    for (let at = path; ; at = dirname(at)) {
      if (inputs.has(at)) return true;
      if (at === root || at === dirname(at)) return false;
    }
  };
  const flush = () => {
    timer = undefined;
    const batch = pending;
    if (batch === undefined) return;
    if (performance.now() - batch.since < longestMs && [...batch.paths].some(isEmptyFile)) {
      timer = setTimeout(flush, quietMs);
      return;
    }
    pending = undefined;
    onBatch({ paths: [...batch.paths], since: batch.since });
  };

  const watcher = watchFiles(root, {
    ignored: isIgnored,
    ignoreInitial: true,
    atomic: false,
    ignorePermissionErrors: true,
  });
  const notice = (path: string) => {
    if (isIgnored(path) || !counts(path)) return;
    const now = performance.now();
    pending ??= { paths: new Set(), since: now };
    pending.paths.add(path);
    clearTimeout(timer);
    timer = setTimeout(flush, Math.max(0, Math.min(quietMs, pending.since + longestMs - now)));
  };
  watcher.on("all", (_event, path) => notice(path));
  // chokidar swallows a change that follows another within 50 ms: a save in that time would be missed for good. The
  // system's own events come unfiltered: for a watched file, or for a folder with the name of what changed in it.
  watcher.on("raw", (_event, name: string | null, details) => {
    const { watchedPath } = details as { readonly watchedPath?: string };
    if (watchedPath === undefined || name === null) return;
    notice(look(watchedPath)?.isDirectory() === true ? join(watchedPath, name) : watchedPath);
  });
  await new Promise<void>((resolve, reject) => {
    watcher.once("ready", resolve);
    watcher.once("error", reject);
  });

  return {
    expect(next, settled) {
      inputs = new Set(next);
      isSettled = settled;
      const wanted = new Set(next.filter((path) => isOutside(relative(root, path)) || isUnwatched(root, path)));
      const added = [...wanted].filter((path) => !outside.has(path));
      const removed = [...outside].filter((path) => !wanted.has(path));
      outside = wanted;
      if (added.length > 0) watcher.add(added);
      if (removed.length > 0) watcher.unwatch(removed);
    },
    async close() {
      clearTimeout(timer);
      await watcher.close();
    },
  };
}

/** Most editors empty a file before they write it: what is seen between the two is not meant. */
function isEmptyFile(path: string): boolean {
  const stats = look(path);
  return stats?.isFile() === true && stats.size === 0;
}

/** What stands at a path, if anything that can be looked at does. */
function look(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (error instanceof Error && "code" in error) return undefined;
    throw error;
  }
}

function isOutside(below: string): boolean {
  return below === ".." || below.startsWith(`..${sep}`) || isAbsolute(below);
}

function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder + sep);
}

/** In the project, but below a folder that is not walked, such as a linked package. */
function isUnwatched(root: string, path: string): boolean {
  return relative(root, path)
    .split(sep)
    .some((segment) => neverWatched.has(segment));
}
