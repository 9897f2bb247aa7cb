/** A project built with the CLI and served by its emitted `server.mjs`: a process that can be killed and started again. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll } from "vitest";
import { listeningUrl, runCommand } from "../../bench/measure.mjs";
import { killed } from "./killed.js";

const bdk = resolve("dist/cli/bdk.js");
const folders: string[] = [];
const children = new Set<ChildProcess>();

afterAll(async () => {
  await Promise.all([...children].map(killed));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

export interface Emitted {
  /** Folder of the project, the build, the state and the workspaces. */
  readonly work: string;
  readonly stateRoot: string;
  /** Writes files (relative to the project) and builds. */
  build(files: Readonly<Record<string, string>>): Promise<void>;
  /** Takes a file of the project away. */
  remove(file: string): void;
  /** Starts `server.mjs`; resolves with its URL. */
  start(env?: Readonly<Record<string, string>>, flags?: readonly string[]): Promise<string>;
  /** `kill -9`; resolves once the process is gone. */
  kill(): Promise<void>;
  /** Runs a CLI command; resolves with what it printed on stdout. */
  cli(args: readonly string[]): Promise<string>;
}

/** Builds a project from its files; agent.ts (offline), instructions and package.json are there by default. */
export async function emitProject(files: Readonly<Record<string, string>>): Promise<Emitted> {
  const work = mkdtempSync(join(tmpdir(), "bdk-emitted-"));
  folders.push(work);
  let child: ChildProcess | undefined;

  const emitted: Emitted = {
    work,
    stateRoot: join(work, "state"),
    async build(changed) {
      for (const [file, text] of Object.entries(changed)) {
        const target = join(work, "project", file);
        mkdirSync(dirname(target), { recursive: true });
        writeFileSync(target, text);
      }
      await runCommand([process.execPath, bdk, "build", "--dir", join(work, "project"), "--out", join(work, "out")]);
    },
    remove(file) {
      rmSync(join(work, "project", file));
    },
    start(env = {}, flags = []) {
      const args = ["--port", "0", "--json", "--mode", "single", "--state-root", join(work, "state"), ...flags];
      const server = spawn(process.execPath, [join(work, "out/server.mjs"), ...args], {
        cwd: work,
        env: { ...process.env, XDG_CACHE_HOME: join(work, "cache"), ...env },
        stdio: ["ignore", "pipe", "pipe"],
      });
      child = server;
      children.add(server);
      let stderr = "";
      server.stderr.on("data", (chunk) => {
        stderr += String(chunk);
      });
      return new Promise((done, fail) => {
        let stdout = "";
        server.stdout.on("data", (chunk) => {
          stdout += String(chunk);
          const url = stdout.includes("\n") ? listeningUrl(stdout.split("\n")[0] ?? "") : undefined;
          if (url !== undefined) done(url);
        });
        server.once("exit", (code) => fail(new Error(`server exited ${code}: ${stderr}`)));
      });
    },
    async kill() {
      const server = child;
      if (server === undefined) return;
      child = undefined;
      children.delete(server);
      await killed(server);
    },
    async cli(args) {
      return (await runCommand([process.execPath, bdk, ...args])).stdout;
    },
  };
  await emitted.build({
    "package.json": `${JSON.stringify({ name: "emitted", private: true, type: "module" })}\n`,
    "bot/agent.ts": 'import { defineAgent } from "@cursor/bdk";\n\nexport default defineAgent({ model: "offline" });\n',
    "bot/instructions.md": "Be brief.\n",
    ...files,
  });
  return emitted;
}
