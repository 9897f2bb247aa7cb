import { randomUUID } from "node:crypto";
import fs from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { setImmediate } from "node:timers/promises";
import { RuntimeError } from "../errors.js";
import type { AgentGeneration } from "../manifest/bundle.js";
import type { SessionRecord, Workspace } from "../session/ports.js";
import { guardStorage, isMissing, makeDir, replaceFile, syncPath } from "../storage/files.js";
import { containedPath, openFile, problemOfPath } from "../storage/paths.js";
import { messageOf } from "../tools/result.js";
import { readSkills } from "../tools/skills.js";
import { scriptCatalog, scriptPath } from "./catalog.js";
import { createMemoryCopies } from "./memory.js";

/** Most bytes of files sent with one message: 25 MiB. Decision 23. */
export const maxMessageFiles = 25 * 1024 * 1024;

export interface SessionWorkspaces extends Workspace {
  /** Makes the session's folder with its skills and seeds, once. Throws `workspace_unavailable`. */
  ensure(record: SessionRecord): void;
  /**
   * Innermost folder whose AGENTS.md and `.cursor` settings are ambient context: the channel's own, `local.cwd`, or
   * where workspaces stand.
   */
  contextDir(record: SessionRecord | undefined): string;
  /** Path of the session's folder; of a scratch folder that calls outside any session share, which is made. */
  dirOf(record: SessionRecord | undefined): string;
}

export interface WorkspaceOptions {
  readonly slug: string;
  /** The agent's folder of the state root. */
  readonly stateDir: string;
  readonly generation: () => AgentGeneration;
  /** Folder to make workspaces in; default `local.workspaceDir`, else `bdk/<slug>` in the user's cache folder. */
  readonly workspaceDir?: string;
  /** Absolute folder that the paths of `local` are relative to. */
  readonly base: string;
}

/**
 * The sessions' working folders. They stand outside the project, so that its own AGENTS.md doesn't become ambient, and
 * are made when something first needs one. Decision 9.
 */
export function createWorkspaces(options: WorkspaceOptions): SessionWorkspaces {
  const { slug, stateDir, generation } = options;
  const made = new Set<string>();
  const memory = createMemoryCopies(stateDir, generation);

  function root(): string {
    const { local } = generation().agent;
    const own = typeof local?.workspaceDir === "string" ? path.resolve(options.base, local.workspaceDir) : undefined;
    const cache = process.env.XDG_CACHE_HOME ?? path.join(homedir(), ".cache");
    return options.workspaceDir ?? own ?? path.join(cache, "bdk", slug);
  }

  /** The project's own working directory for every session, when it names one. */
  function shared(): string | undefined {
    const { local } = generation().agent;
    return typeof local?.cwd === "string" ? path.resolve(options.base, local.cwd) : undefined;
  }

  /** The folder that isn't ours: the channel's for this session, else the project's for all. */
  const lentTo = (record: SessionRecord | undefined) => record?.workspaceDir ?? shared();

  const markOf = (record: SessionRecord) => path.join(stateDir, "sessions", record.id, "workspace.json");

  /** Where the session's workspace was made, else where it would be made now. */
  function placeOf(record: SessionRecord): string {
    return lentTo(record) ?? readMark(markOf(record)) ?? path.join(root(), record.id);
  }

  function make(record: SessionRecord): void {
    const mark = markOf(record);
    const existing = readMark(mark);
    if (existing !== undefined && fs.existsSync(existing)) return;
    const dir = makeDir(root(), record.id);
    fill(dir, generation());
    replaceFile(mark, `${JSON.stringify({ dir })}\n`);
  }

  function guard<T>(make: () => T): T {
    try {
      return make();
    } catch (error) {
      throw new RuntimeError("workspace_unavailable", `the workspace can't be made: ${messageOf(error)}`, {}, error);
    }
  }

  function ensure(record: SessionRecord): void {
    const cwd = lentTo(record);
    if (made.has(record.id)) return;
    guard(() => (cwd === undefined ? make(record) : lend(cwd, generation())));
    made.add(record.id);
  }

  const incoming = (sessionId: string) => path.join(stateDir, "incoming", sessionId);

  return {
    ensure,
    contextDir: (record) => lentTo(record) ?? root(),
    dirOf(record) {
      if (record === undefined) return shared() ?? guard(() => makeDir(root(), "unbound"));
      ensure(record);
      const dir = placeOf(record);
      if (lentTo(record) === undefined) guard(() => memory.lay(dir));
      return dir;
    },

    async stage(sessionId, files) {
      checkFiles(files);
      const dir = guardStorage(() => makeDir(incoming(sessionId)));
      const staged = path.join(dir, `${randomUUID()}.staged`);
      let current = staged;
      guardStorage(() => replaceFile(staged, JSON.stringify(files)));
      await syncPath(path.dirname(dir));
      return {
        paths: Object.keys(files),
        accept(message) {
          guardStorage(() => {
            const accepted = path.join(dir, `${message}.json`);
            fs.renameSync(staged, accepted);
            current = accepted;
            syncFolder(dir);
          });
        },
        async discard() {
          await fs.promises.rm(current, { force: true });
        },
      };
    },

    async deliver(record, messages) {
      ensure(record);
      const dir = placeOf(record);
      for (const message of messages) {
        const accepted = path.join(incoming(record.id), `${message}.json`);
        if (!fs.existsSync(accepted)) continue;
        const files = JSON.parse(await fs.promises.readFile(accepted, "utf8")) as Readonly<Record<string, string>>;
        try {
          await writeAll(dir, files);
        } catch (error) {
          // What doesn't fit the workspace never will: kept, it would fail every turn from here on.
          if (error instanceof RuntimeError) await fs.promises.rm(accepted, { force: true });
          throw error;
        }
        await fs.promises.rm(accepted, { force: true });
      }
    },

    async copy(from, to) {
      const source = readMark(markOf(from));
      if (source === undefined || !fs.existsSync(source)) return () => undefined;
      const dir = guard(() => makeDir(root(), to.id));
      try {
        // Links stay links: whatever reads through them is held inside the folder at that moment.
        await fs.promises.cp(source, dir, { recursive: true, verbatimSymlinks: true, filter: isCopied });
      } catch (error) {
        await fs.promises.rm(dir, { recursive: true, force: true });
        throw new RuntimeError(
          "workspace_unavailable",
          `the workspace can't be copied: ${messageOf(error)}`,
          {},
          error,
        );
      }
      return () => guardStorage(() => replaceFile(markOf(to), `${JSON.stringify({ dir })}\n`));
    },
  };
}

/** A directory of the project's own is used as it is: only seeds that are missing are laid into it. */
function lend(cwd: string, { agent, files }: AgentGeneration): void {
  if (!fs.statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) throw new Error(`${cwd} is not a folder`);
  for (const seed of agent.seeds) {
    if (fs.existsSync(path.join(cwd, seed.path))) continue;
    writeInto(cwd, seed.path, Buffer.from(files[seed.sha256] ?? "", "base64"));
  }
}

/** Pipes and sockets are whoever's has them open; and what has gone meanwhile is not missed. */
async function isCopied(source: string): Promise<boolean> {
  const facts = await fs.promises.lstat(source).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  return facts !== undefined && (facts.isFile() || facts.isDirectory() || facts.isSymbolicLink());
}

function readMark(mark: string): string | undefined {
  if (!fs.existsSync(mark)) return undefined;
  const { dir } = JSON.parse(fs.readFileSync(mark, "utf8")) as { readonly dir: string };
  return dir;
}

/** Skills at `.cursor/skills/<name>/`, then seeds, then the scripts of agent tools with their catalog in AGENTS.md. */
function fill(dir: string, { agent, files }: AgentGeneration): void {
  for (const skill of readSkills(agent, files)) {
    const folder = `.cursor/skills/${skill.name}`;
    const description = JSON.stringify(skill.description);
    writeInto(
      dir,
      `${folder}/SKILL.md`,
      `---\nname: ${skill.name}\ndescription: ${description}\n---\n\n${skill.markdown}`,
    );
    for (const [file, bytes] of skill.files) writeInto(dir, `${folder}/${file}`, bytes);
  }
  for (const seed of agent.seeds) writeInto(dir, seed.path, Buffer.from(files[seed.sha256] ?? "", "base64"));
  for (const tool of agent.tools) {
    if (tool.script === undefined) continue;
    writeInto(dir, scriptPath(tool), Buffer.from(files[tool.script.sha256] ?? "", "base64"));
  }
  const catalog = scriptCatalog(agent);
  const seeded = agent.seeds.find(({ path }) => path === "AGENTS.md");
  if (catalog === "") return;
  const before =
    seeded === undefined
      ? ""
      : `${Buffer.from(files[seeded.sha256] ?? "", "base64")
          .toString()
          .trim()}\n\n`;
  writeInto(dir, "AGENTS.md", before + catalog);
}

function writeInto(dir: string, file: string, contents: string | Uint8Array): void {
  const fd = openFile(containedPath(dir, file, true), "replace");
  try {
    fs.writeFileSync(fd, contents);
  } finally {
    fs.closeSync(fd);
  }
}

/** Writes the files of a message, some at a time: other sessions go on meanwhile. */
async function writeAll(dir: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [index, [file, text]] of Object.entries(files).entries()) {
    if (index % filesAtOnce === filesAtOnce - 1) await setImmediate();
    try {
      writeInto(dir, file, text);
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      if (code !== "" && !unfit.has(code)) throw error;
      const why = code === "" ? "it leads out of the workspace" : `something else is in its place (${code})`;
      throw new RuntimeError("invalid_request", `workspaceFiles: "${file}" can't be written: ${why}`, {}, error);
    }
  }
}

/** Files written without letting anything else run. */
const filesAtOnce = 32;
/** Codes of the file system for a path that what is in the folder has no place for. */
const unfit = new Set(["EEXIST", "EISDIR", "ELOOP", "ENAMETOOLONG", "ENOTDIR", "EINVAL", "ENXIO"]);

function syncFolder(dir: string): void {
  const fd = fs.openSync(dir, "r");
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

function checkFiles(files: Readonly<Record<string, string>>): void {
  let bytes = 0;
  for (const [file, text] of Object.entries(files)) {
    const problem = problemOfPath(file);
    if (problem !== undefined) throw new RuntimeError("invalid_request", `workspaceFiles: path "${file}" ${problem}`);
    for (let end = file.lastIndexOf("/"); end > 0; end = file.lastIndexOf("/", end - 1)) {
      const folder = file.slice(0, end);
      if (!Object.hasOwn(files, folder)) continue;
      throw new RuntimeError(
        "invalid_request",
        `workspaceFiles: "${folder}" can't be a file and the folder of "${file}"`,
      );
    }
    bytes += Buffer.byteLength(text);
  }
  if (bytes > maxMessageFiles) {
    throw new RuntimeError("payload_too_large", `workspaceFiles are larger than ${maxMessageFiles} bytes in total`);
  }
}
