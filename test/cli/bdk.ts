import { type ChildProcess, spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** Our package's root. */
export const packageRoot = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const bin = join(packageRoot, "dist/cli/bdk.js");

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface BdkOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly stdin?: string;
}

/** Our own environment without what would change a command's behaviour. */
function environment(extra: BdkOptions["env"] = {}): NodeJS.ProcessEnv {
  const { NO_COLOR, FORCE_COLOR, CI, PORT, HOST, XAI_API_KEY, OPENAI_API_KEY, ANTHROPIC_API_KEY, ...env } = process.env;
  for (const name of Object.keys(env)) if (name.startsWith("BDK_") || name.startsWith("VITEST")) delete env[name];
  return { ...env, NODE_ENV: undefined, ...extra };
}

function start(args: readonly string[], options: BdkOptions): ChildProcess {
  return spawn(process.execPath, [bin, ...args], {
    cwd: options.cwd ?? packageRoot,
    env: environment(options.env),
    stdio: ["pipe", "pipe", "pipe"],
  });
}

/** Runs the real bin to its end. */
export async function bdk(args: readonly string[], options: BdkOptions = {}): Promise<Finished> {
  const child = start(args, options);
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdin?.end(options.stdin ?? "");
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  return { code, stdout, stderr };
}

export interface Running {
  readonly pid: number;
  /** Lines of stdout so far. */
  readonly lines: readonly string[];
  readonly stderr: () => string;
  /** Resolves with the first line, from `from` on, that the predicate accepts; rejects when the process ends before. */
  line<T>(accept: (line: string) => T | undefined, from?: number): Promise<T>;
  /** A line on its stdin. */
  write(line: string): void;
  /** SIGINT, as Ctrl-C sends it to this process alone; gives the exit code. */
  interrupt(): Promise<number | null>;
}

/** Starts the real bin and leaves it running until the test is over. */
export async function startBdk(args: readonly string[], options: BdkOptions = {}): Promise<Running> {
  const child = start(args, options);
  const lines: string[] = [];
  let stderr = "";
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const each of waiting) each();
  };
  let ended = false;
  const closed = new Promise<number | null>((resolve) => {
    child.on("close", (code) => {
      ended = true;
      resolve(code);
      wake();
    });
  });
  if (child.stdout === null || child.pid === undefined) throw new Error("bdk did not start");
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line);
    wake();
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  onTestFinished(async () => {
    if (!ended) child.kill("SIGTERM");
    await closed;
  });
  return {
    pid: child.pid,
    lines,
    stderr: () => stderr,
    line: (accept, from = 0) =>
      new Promise((resolve, reject) => {
        let next = from;
        const look = () => {
          for (; next < lines.length; next++) {
            const found = accept(lines[next] ?? "");
            if (found !== undefined) {
              waiting.delete(look);
              resolve(found);
              return;
            }
          }
          if (ended) {
            waiting.delete(look);
            reject(new Error(`bdk ${args.join(" ")} ended early\n${lines.join("\n")}\n${stderr}`));
          }
        };
        waiting.add(look);
        look();
      }),
    write: (line) => void child.stdin?.write(`${line}\n`),
    interrupt() {
      child.kill("SIGINT");
      return closed;
    },
  };
}

/** A folder that is removed after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "bdk-cli-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A copy of a fixture project, with `node_modules` as an installation would make them. */
export async function copyProject(name: string): Promise<string> {
  const folder = join(await temporaryFolder(), name);
  await cp(join(packageRoot, "fixtures/projects", name), folder, {
    recursive: true,
    filter: (path) => !/\/(node_modules|dist|\.bdk)(\/|$)/.test(path.slice(packageRoot.length)),
  });
  // The fixtures' tsconfigs extend one that stays behind, and map the package to its sources.
  await writeFile(join(folder, "tsconfig.json"), tsconfig);
  await linkModules(folder);
  return folder;
}

const tsconfig = JSON.stringify({
  compilerOptions: {
    target: "ES2022",
    module: "ESNext",
    moduleResolution: "Bundler",
    resolveJsonModule: true,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ["node"],
  },
  include: ["bot", "evals"],
});

/** Stands in for `npm install`, without a network. */
export async function linkModules(folder: string): Promise<void> {
  await mkdir(join(folder, "node_modules/@cursor"), { recursive: true });
  await mkdir(join(folder, "node_modules/@types"), { recursive: true });
  await symlink(packageRoot, join(folder, "node_modules/@cursor/bdk"));
  for (const name of ["zod", "typescript", "@types/node", "undici-types"]) {
    await symlink(join(packageRoot, "node_modules", name), join(folder, "node_modules", name));
  }
}
