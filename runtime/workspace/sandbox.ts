import { spawn } from "node:child_process";
import { existsSync, lstatSync, readlinkSync } from "node:fs";
import path from "node:path";

/** `local.sandbox` is on and this machine can't do it. The message says why and what to do. */
export class SandboxUnavailable extends Error {
  override readonly name = "SandboxUnavailable";
}

interface Inside {
  /** Real path of the working directory: all that can be written. */
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  /** Further files to be seen at their own paths. */
  readonly readable: readonly string[];
}

const install = "Install bubblewrap (apt-get install bubblewrap), or take local.sandbox out of agent.ts.";
/** What programs need of the system. Of /etc only what says how libraries are found, not what is configured. */
const system = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives"];

let known: Promise<string> | undefined;

/**
 * The command that runs another in a sandbox: namespaces of its own, no network, the system read-only, one folder to
 * write in, gone with the server.
 *
 * @throws SandboxUnavailable when bubblewrap is missing, or may not make namespaces.
 */
export async function sandboxed(
  command: readonly string[],
  { root, env, readable }: Inside,
): Promise<[string, ...string[]]> {
  const bwrap = await findSandbox();
  const variables = Object.entries({ ...env, TMPDIR: "/tmp" }).flatMap(([name, value]) => ["--setenv", name, value]);
  return [
    bwrap,
    ...walls(),
    ...readable.flatMap((file) => ["--ro-bind", file, file]),
    ...["--bind", root, root, "--chdir", root, "--clearenv"],
    ...variables,
    "--",
    ...command,
  ];
}

function walls(): readonly string[] {
  return [
    ...["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"],
    ...system.flatMap(systemPath),
    ...["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"],
  ];
}

/** On many systems /bin is a link into /usr: it is one inside as well. */
function systemPath(file: string): readonly string[] {
  if (!existsSync(file)) return [];
  return lstatSync(file).isSymbolicLink() ? ["--symlink", readlinkSync(file), file] : ["--ro-bind", file, file];
}

/** Tried once; what stands in the way may be mended while the server runs, so a failure is not remembered. */
function findSandbox(): Promise<string> {
  known ??= tryOut().catch((error: unknown) => {
    known = undefined;
    throw error;
  });
  return known;
}

async function tryOut(): Promise<string> {
  const folders = (process.env.PATH ?? "").split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  const bwrap = folders.map((folder) => path.join(folder, "bwrap")).find((file) => existsSync(file));
  if (bwrap === undefined)
    throw new SandboxUnavailable(`local.sandbox is on, but bubblewrap (bwrap) is not installed. ${install}`);
  const problem = await problemOf(bwrap, [...walls(), "--", "/bin/sh", "-c", ":"]);
  if (problem !== undefined) {
    throw new SandboxUnavailable(
      `local.sandbox is on, but bubblewrap may not make namespaces here (${problem}). Allow unprivileged user namespaces, or take local.sandbox out of agent.ts.`,
    );
  }
  return bwrap;
}

function problemOf(file: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: ["ignore", "ignore", "pipe"], env: {}, timeout: 10_000 });
    let told = "";
    child.stderr.on("data", (chunk) => {
      told += String(chunk);
    });
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code) => resolve(code === 0 ? undefined : told.trim() || `it ended with ${code}`));
  });
}
