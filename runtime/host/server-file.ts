import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** What `<state-root>/server.json` says of the server that runs on this state root. */
export interface ServerFile {
  readonly url: string;
  readonly pid: number;
}

/** Writes `server.json` (0600) in one step, so that `bdk run`, `call` and `logs` find the running server. */
export async function writeServerFile(stateRoot: string, server: ServerFile): Promise<void> {
  await mkdir(stateRoot, { recursive: true, mode: 0o700 });
  const file = join(stateRoot, "server.json");
  const temporary = `${file}.${process.pid}.tmp`;
  await writeFile(temporary, `${JSON.stringify(server)}\n`, { mode: 0o600 });
  await rename(temporary, file);
}

/** Removes `server.json`, unless another process has written its own since. */
export async function removeServerFile(stateRoot: string): Promise<void> {
  const server = await readServerFile(stateRoot);
  if (server?.pid === process.pid) await rm(join(stateRoot, "server.json"), { force: true });
}

/** The server that last started on a state root; it may be gone. `undefined` when there is none to read. */
export async function readServerFile(stateRoot: string): Promise<ServerFile | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(join(stateRoot, "server.json"), "utf8"));
    return isServerFile(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || (error instanceof Error && "code" in error && error.code === "ENOENT")) {
      return undefined;
    }
    throw error;
  }
}

function isServerFile(value: unknown): value is ServerFile {
  if (typeof value !== "object" || value === null || !("url" in value) || !("pid" in value)) return false;
  return typeof value.url === "string" && Number.isInteger(value.pid);
}
