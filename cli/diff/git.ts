import { execFile } from "node:child_process";

/** Git as this command uses it: nothing here writes to the repository or its working tree. */
export interface Git {
  /** Top folder of the working tree. */
  readonly top: string;
  /** Path from the top to the folder that git was opened for, POSIX, "" at the top. */
  readonly prefix: string;
  /** Whether commits before some point are missing, as in most CI jobs. */
  readonly isShallow: boolean;
  /** Full hash of the commit that a revision names; undefined when there is none. */
  commit(revision: string): Promise<string | undefined>;
  /** Paths of a commit below a folder, relative to the top. */
  paths(commit: string, folder: string): Promise<readonly string[]>;
  /** Text of one file of a commit. */
  text(commit: string, path: string): Promise<string>;
  /** Writes all files of a commit below `folder`, which must not exist. */
  checkOut(commit: string, folder: string, indexFile: string): Promise<void>;
}

/** Set inside git hooks, and then about another index or folder than the one asked for. */
const hookVariables = ["GIT_DIR", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY"];

/**
 * Opens the repository that holds `folder`; undefined when none does.
 *
 * @throws {GitError} when git can't be started
 */
export async function openGit(folder: string): Promise<Git | undefined> {
  const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}) => git(folder, args, env);
  const found = await run(["rev-parse", "--show-toplevel", "--show-prefix", "--is-shallow-repository"]).catch(
    expectGitError,
  );
  if (found === undefined) return undefined;
  const [top = "", prefix = "", shallow] = found.split("\n");
  return {
    top,
    prefix: prefix.replace(/\/$/, ""),
    isShallow: shallow === "true",
    async commit(revision) {
      const hash = await run(["rev-parse", "--verify", "--quiet", "--end-of-options", `${revision}^{commit}`]).catch(
        expectGitError,
      );
      return hash?.trim();
    },
    async paths(commit, below) {
      const at = below === "" ? [] : [`${below}/`];
      return (await run(["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit, "--", ...at]))
        .split("\0")
        .filter((path) => path !== "");
    },
    text: (commit, path) => run(["cat-file", "blob", `${commit}:${path}`]),
    async checkOut(commit, target, indexFile) {
      const env = { GIT_INDEX_FILE: indexFile };
      await git(top, ["read-tree", commit], env);
      await git(top, ["checkout-index", "--all", "--force", `--prefix=${target}/`], env);
    },
  };
}

/** Git said no, which is an answer. */
function expectGitError(error: unknown): undefined {
  if (error instanceof GitError && error.started) return undefined;
  throw error;
}

/** Git ended with another code than 0, or could not be started. */
export class GitError extends Error {
  override readonly name = "GitError";
  readonly started: boolean;

  constructor(message: string, started: boolean) {
    super(message);
    this.started = started;
  }
}

function git(cwd: string, args: readonly string[], extra: NodeJS.ProcessEnv): Promise<string> {
  const env: NodeJS.ProcessEnv = { ...process.env, LC_ALL: "C", GIT_OPTIONAL_LOCKS: "0" };
  for (const name of hookVariables) delete env[name];
  return new Promise((resolve, reject) => {
    const options = { cwd, env: { ...env, ...extra }, maxBuffer: 256 * 1024 * 1024 };
    execFile("git", [...args], options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else if (typeof error.code === "number") {
        reject(new GitError(stderr.trim() === "" ? `git ${args[0]} failed` : stderr.trim(), true));
      } else reject(new GitError(`git cannot be started: ${error.message}`, false));
    });
  });
}
