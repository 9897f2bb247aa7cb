/** Agent tools: scripts of the project that run where the agent runs. */
import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import type { JsonValue } from "../session/event.js";
import { explainSandbox, runProcess } from "./processes.js";
import { codeOf, isAbsent } from "./tools/contained.js";
import { ToolFailure } from "./tools/tool.js";

/** Most bytes of a result: 4 MiB. */
const maxBytes = 4 * 1024 * 1024;

export interface ScriptRun {
  readonly name: string;
  /** Text of the script. */
  readonly script: Buffer;
  /** Folder of the server's own copies: the one in the workspace is the model's to change. */
  readonly scriptsDir: string;
  /** Path of the working directory. */
  readonly root: string;
  readonly input: unknown;
  readonly session: string;
  readonly sandbox: boolean;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** Runs an agent tool: JSON in, JSON out, the exit code says whether it failed. Throws a `ToolFailure` when it gave none. */
export async function runScript(run: ScriptRun): Promise<{ readonly output: JsonValue; readonly isError: boolean }> {
  const { name, root, sandbox, timeoutMs, signal, session } = run;
  const file = await keepScript(run.scriptsDir, run.script);
  const { exitCode, ended, stdout, stderr } = await runProcess({
    command: [process.execPath, file],
    root,
    sandbox,
    readable: [process.execPath, file],
    variables: { BDK_SESSION: session },
    input: JSON.stringify(run.input),
    timeoutMs,
    maxBytes,
    signal,
  }).catch(explainSandbox);
  const said = stderr.text.trim().slice(-2_000);
  if (ended === "timeout")
    throw new ToolFailure(`"${name}" did not finish within ${timeoutMs / 1_000} s and was stopped.`);
  if (ended === "cancelled") throw new ToolFailure(`"${name}" was stopped with the turn.`);
  const output = stdout.omitted === 0 ? parse(stdout.text) : undefined;
  if (output === undefined) {
    const how = exitCode === undefined ? "was ended by a signal" : `ended with exit code ${exitCode}`;
    throw new ToolFailure(`"${name}" ${how} and gave no result.${said === "" ? "" : ` It said: ${said}`}`);
  }
  return { output, isError: exitCode !== 0 };
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined; // told to the model by the caller
  }
}

/** The script under its hash; written anew when what is there is something else. */
async function keepScript(folder: string, script: Buffer): Promise<string> {
  const file = path.join(folder, `${createHash("sha256").update(script).digest("hex")}.mjs`);
  try {
    if ((await readFile(file)).equals(script)) return file;
  } catch (error) {
    if (!isAbsent(error) && codeOf(error) !== "EACCES") throw error;
  }
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const next = `${file}.${randomUUID()}.next`;
  await writeFile(next, script, { mode: 0o600 });
  await rename(next, file);
  return file;
}
