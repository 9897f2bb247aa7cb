import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { linkModules, type Running, startBdk, temporaryFolder } from "./bdk.js";

/** An event that `bdk dev --json` prints. */
export interface DevEvent {
  readonly event: "listening" | "rebuilt" | "diagnostics" | "error";
  readonly url?: string;
  readonly ms?: number;
  readonly changed?: readonly string[];
  readonly errors?: number;
  readonly warnings?: number;
  readonly diagnostics?: readonly {
    readonly code: string;
    readonly labels: readonly { readonly span: { readonly file: string; readonly line: number } }[];
  }[];
  readonly code?: string;
  readonly message?: string;
}

export interface DevServer {
  readonly dir: string;
  readonly running: Running;
  /** Base URL of the agent. */
  readonly url: string;
  readonly events: () => readonly DevEvent[];
  /** The next event of that kind after what has been seen so far by `mark`. */
  next(event: DevEvent["event"], from: number): Promise<DevEvent>;
  /** How many events there have been. */
  mark(): number;
  /** Saves a file and resolves when the new code answers. */
  save(path: string, contents: string): Promise<DevEvent>;
  call(tool: string, input?: unknown): Promise<unknown>;
}

export function toolFile(body: string, extra = ""): string {
  return `import { defineTool } from "@cursor/bdk/tools";\n${extra}\nexport default defineTool({\n  description: "Answers.",\n  effect: "read",\n  execute: ${body},\n});\n`;
}

/** Writes a small project: one tool `answer` that gives `"v0"`. */
export async function devProject(files: Readonly<Record<string, string>> = {}): Promise<string> {
  const dir = await temporaryFolder();
  await writeProject(dir, {
    "package.json": '{ "name": "devbot", "type": "module" }\n',
    "bot/agent.ts": 'import { defineAgent } from "@cursor/bdk";\nexport default defineAgent({ model: "offline" });\n',
    "bot/instructions.md": "You answer.\n",
    "bot/tools/answer.ts": toolFile('() => "v0"'),
    ...files,
  });
  await linkModules(dir);
  return dir;
}

export async function writeProject(dir: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, contents] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), contents);
  }
}

/** As many editors save: a new file is renamed over the old one. */
export async function saveByRename(file: string, contents: string): Promise<void> {
  await writeFile(`${file}.swp`, contents);
  await rename(`${file}.swp`, file);
}

export async function startDev(dir: string, args: readonly string[] = []): Promise<DevServer> {
  const running = await startBdk(["dev", "--dir", dir, "--port", "0", "--json", ...args]);
  const parse = (line: string) => JSON.parse(line) as DevEvent;
  const next: DevServer["next"] = (event, from) =>
    running.line((line) => {
      const parsed = parse(line);
      return parsed.event === event ? parsed : undefined;
    }, from);
  const listening = await next("listening", 0);
  const url = `${listening.url}/devbot`;
  return {
    dir,
    running,
    url,
    events: () => running.lines.map(parse),
    mark: () => running.lines.length,
    next,
    async save(path, contents) {
      const from = running.lines.length;
      await writeProject(dir, { [path]: contents });
      return next("rebuilt", from);
    },
    call: (tool, input = {}) => callTool(url, tool, input),
  };
}

export async function callTool(url: string, tool: string, input: unknown = {}): Promise<unknown> {
  const response = await fetch(`${url}/v1/tools/${tool}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ input }),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  const { result } = (await response.json()) as { result: unknown };
  return result;
}

/** What a process holds, read from /proc. */
export function resourcesOf(pid: number): { readonly fds: number; readonly watches: number; readonly rssMb: number } {
  const fds = readdirSync(`/proc/${pid}/fd`);
  let watches = 0;
  for (const fd of fds) {
    try {
      if (!readlinkSync(`/proc/${pid}/fd/${fd}`).includes("inotify")) continue;
      watches += readFileSync(`/proc/${pid}/fdinfo/${fd}`, "utf8")
        .split("\n")
        .filter((line) => line.startsWith("inotify")).length;
    } catch (error) {
      // A descriptor may be closed between the listing and the look at it.
      if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    }
  }
  const rss = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return { fds: fds.length, watches, rssMb: Number(rss?.[1] ?? 0) / 1024 };
}
