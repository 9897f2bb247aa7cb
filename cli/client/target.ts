import { join, resolve } from "node:path";
import { readServerFile } from "../../runtime/host/server-file.js";
import { failure, usageFailure } from "../exit.js";
import { projectFolder } from "../project.js";
import type { Terminal } from "../ui/terminal.js";
import { type AgentClient, createAgentClient, reach } from "./agent-client.js";

export interface TargetOptions {
  readonly dir: string;
  readonly url: string | undefined;
  readonly slug: string | undefined;
  readonly model?: string | undefined;
  readonly "bearer-token": string | undefined;
  readonly "state-root": string | undefined;
  readonly json: boolean;
  /** Only warnings and errors of the log. */
  readonly quiet?: boolean;
  /** A server started in this process shows its caller the sessions of every principal, such as those of channels. */
  readonly dev?: boolean;
  /** As `InProcessOptions` has it. */
  readonly modelWarnings?: boolean;
}

/** The agent to talk to, and what to end afterwards. */
export interface Target {
  readonly client: AgentClient;
  close(): Promise<void>;
}

interface Mounted {
  readonly slug: string;
  readonly url: string;
}

/** Finds the agent: at `--url`, else on the running server of this project, else on one started in this process. */
export async function openTarget(options: TargetOptions, terminal: Terminal): Promise<Target> {
  const token = options["bearer-token"] ?? process.env.BDK_BEARER_TOKEN;
  if (options.url !== undefined) {
    if (options.model !== undefined) throw modelOfOther(options.url);
    return { client: createAgentClient(await agentAt(options.url, options.slug), token), close: async () => undefined };
  }
  const root = projectFolder(options.dir);
  const chosenRoot = options["state-root"] ?? process.env.BDK_STATE_ROOT;
  const stateRoot = chosenRoot === undefined ? join(root, ".bdk") : resolve(chosenRoot);
  const running = await runningServer(stateRoot);
  if (running !== undefined) {
    if (options.model !== undefined) throw modelOfOther(running);
    return { client: createAgentClient(await agentAt(running, options.slug), token), close: async () => undefined };
  }
  const { startInProcess } = await import("./in-process.js");
  const { model, json, quiet = false, dev = false, modelWarnings = true } = options;
  const server = await startInProcess(root, { stateRoot, model, json, quiet, dev, modelWarnings }, terminal);
  try {
    const agent = choose(server.agents, options.slug, root);
    return { client: createAgentClient(agent.url, undefined), close: () => server.close() };
  } catch (error) {
    await server.close();
    throw error;
  }
}

/** A server that runs already: at a URL, or the one of a state root. */
export async function openServer(
  options: Pick<TargetOptions, "slug" | "bearer-token">,
  where: string | { readonly stateRoot: string },
): Promise<AgentClient> {
  const token = options["bearer-token"] ?? process.env.BDK_BEARER_TOKEN;
  const url = typeof where === "string" ? where : await runningServer(where.stateRoot);
  if (url !== undefined) return createAgentClient(await agentAt(url, options.slug), token);
  throw failure("serverUnreachable", {
    message: `no server runs on ${typeof where === "string" ? where : where.stateRoot}`,
    help: "start one with bdk serve or bdk dev, or pass --url",
  });
}

function modelOfOther(url: string): Error {
  return usageFailure("optionsExclude", {
    message: `--model cannot change the model of the server that runs at ${url}`,
    help: "leave out --model, or stop that server",
  });
}

/** The URL in `server.json`, when a server answers there. */
async function runningServer(stateRoot: string): Promise<string | undefined> {
  const file = await readServerFile(stateRoot);
  if (file === undefined || !isAlive(file.pid)) return undefined;
  const health = await fetch(`${file.url}/v1/health`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
  return health?.ok === true ? file.url : undefined;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Makes an agent's base URL of what a person may paste: the host, an agent, its playground. */
async function agentAt(given: string, slug: string | undefined): Promise<string> {
  if (!URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol)) {
    throw usageFailure("badOptionValue", {
      message: `--url cannot be "${given}"`,
      help: "a URL such as http://127.0.0.1:3000/my-agent",
    });
  }
  const url = new URL(given);
  const path = url.pathname.replace(/\/(playground|v1)(\/.*)?$/, "").replace(/\/+$/, "");
  const base = url.origin + path;
  if (path !== "") return slug === undefined || path.endsWith(`/${slug}`) ? base : `${base}/${slug}`;
  const index = await reach(`${base}/v1/agents`);
  if (!index.ok) return slug === undefined ? soleAgentAt(base) : `${base}/${slug}`;
  const { agents } = (await index.json()) as { agents: readonly { readonly slug: string; readonly infoUrl: string }[] };
  const mounted = agents.map((each) => ({
    slug: each.slug,
    url: new URL(each.infoUrl, `${base}/`).href.replace(/\/v1\/info$/, ""),
  }));
  // `--public-url` may name another host: the way we came in is the one that works from here.
  return choose(
    mounted.map((each) => ({ ...each, url: base + new URL(each.url).pathname.replace(/\/$/, "") })),
    slug,
    base,
  ).url;
}

/** A host that serves one agent at its root; one that hides its list has to be told which agent is meant. */
async function soleAgentAt(base: string): Promise<string> {
  const info = await reach(`${base}/v1/info`);
  if (info.status !== 404) return base;
  throw usageFailure("chooseAgent", {
    message: `${base} does not list its agents`,
    help: "pass --slug, or the agent's own URL",
  });
}

function choose(agents: readonly Mounted[], slug: string | undefined, where: string): Mounted {
  const [first] = agents;
  if (first === undefined)
    throw failure("chooseAgent", { message: `there is no agent in ${where}`, help: "bdk validate tells why" });
  const names = agents.map((each) => each.slug).join(", ");
  if (slug !== undefined) {
    const found = agents.find((each) => each.slug === slug);
    if (found === undefined)
      throw usageFailure("chooseAgent", {
        message: `there is no agent "${slug}" in ${where}`,
        help: `there is ${names}`,
      });
    return found;
  }
  if (agents.length === 1) return first;
  throw usageFailure("chooseAgent", { message: `${where} holds several agents`, help: `pass --slug: ${names}` });
}
