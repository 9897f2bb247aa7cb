/** Projects and extension packages as people make them: with the real CLI, and with npm. */
import { spawn } from "node:child_process";
import { chmod, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { bdk, linkModules, packageRoot } from "./cli/bdk.js";

export type Files = Readonly<Record<string, string>>;

export async function write(folder: string, files: Files): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}

export async function edit(file: string, change: (text: string) => string): Promise<void> {
  await writeFile(file, change(await readFile(file, "utf8")));
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk) => {
    stdout += String(chunk);
  });
  child.stderr.on("data", (chunk) => {
    stderr += String(chunk);
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
}

/** Starts a built server; stopped when the test is over. */
export async function serve(folder: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const args = ["server.mjs", "--port", "0", "--json", "--mode", "single", "--model", "offline"];
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors += String(chunk);
  });
  return new Promise((resolve, reject) => {
    child.stdout.once("data", (chunk) => resolve((JSON.parse(String(chunk)) as { url: string }).url));
    child.once("exit", (code) => reject(new Error(`server exited ${code}: ${errors}`)));
  });
}

export async function call(url: string, tool: string, input: unknown): Promise<unknown> {
  const response = await fetch(`${url}/v1/tools/${tool}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ input }),
  });
  return ((await response.json()) as { readonly result?: unknown }).result;
}

export interface Extension {
  readonly namespace: string;
  readonly package?: string;
  readonly source: string;
  readonly contributes: readonly string[];
  readonly disabled: readonly string[];
}

export async function extensionsOf(url: string): Promise<readonly Extension[]> {
  const response = await fetch(`${url}/v1/info`);
  const { agents } = (await response.json()) as { readonly agents: readonly { readonly extensions: Extension[] }[] };
  return agents[0]?.extensions ?? [];
}

/** `npm pack` of the package, whose `prepack` validates it; gives the archive. */
export async function pack(folder: string): Promise<string> {
  const { code, stdout, stderr } = await run("npm", ["pack", "--silent", "--offline"], folder);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return join(folder, stdout.trim().split("\n").at(-1) ?? "");
}

/** A new extension package as `bdk init --extension` makes it, with what `npm install` would put beside it. */
export async function newExtension(parent: string): Promise<string> {
  const { code, stderr } = await bdk(["init", "hello", "--extension", "--name", "@acme/hello"], { cwd: parent });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const folder = join(parent, "hello");
  await linkModules(folder);
  await mkdir(join(folder, "node_modules/.bin"), { recursive: true });
  const bin = join(folder, "node_modules/.bin/bdk");
  await writeFile(bin, `#!/bin/sh\nexec "${process.execPath}" "${join(packageRoot, "dist/cli/bdk.js")}" "$@"\n`);
  await chmod(bin, 0o755);
  return folder;
}

export async function newProject(parent: string, files: Files): Promise<string> {
  const folder = join(parent, "bot-project");
  await write(folder, {
    "package.json": '{ "name": "desk", "private": true, "type": "module" }\n',
    "bot/instructions.md": "You are brief.\n",
    ...files,
  });
  return folder;
}

export async function install(project: string, archive: string): Promise<void> {
  const flags = ["--offline", "--legacy-peer-deps", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"];
  await rm(join(project, "node_modules"), { recursive: true, force: true });
  const { code, stderr } = await run("npm", ["install", archive, ...flags], project);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  await linkModules(project);
}

/** Builds, and moves the result away from the project and its packages. */
export async function buildAway(project: string, to: string): Promise<void> {
  const { code, stdout, stderr } = await bdk(["build", "--out", to], { cwd: project });
  expect({ code, stdout, stderr }).toMatchObject({ code: 0 });
  await rename(join(project, "node_modules"), join(project, "packages-put-away"));
  onTestFinished(() => rm(to, { recursive: true, force: true }));
}
