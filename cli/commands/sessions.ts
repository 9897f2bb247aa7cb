import { rmSync } from "node:fs";
import type { SessionRow } from "../../runtime/session/ports.js";
import { openServer } from "../client/target.js";
import { foldTrajectory, type Trajectory } from "../client/trajectory.js";
import type { Values } from "../command.js";
import type { CommandTable } from "../command-table.js";
import { exit, usageFailure } from "../exit.js";
import type { Run } from "../index.js";
import { deleteSession, idleSince, strayTraces } from "../state/delete.js";
import {
  type AgentState,
  agentStates,
  findSession,
  readRows,
  readTrace,
  stateRootOf,
  tracePath,
} from "../state/folder.js";
import { columns } from "../ui/columns.js";
import { plainLine, plainText } from "../ui/plain.js";
import { type Terminal, writeJson } from "../ui/terminal.js";

type Options = Values<CommandTable["sessions"]["options"]>;
type Action = (ids: readonly string[], options: Options, terminal: Terminal) => Promise<number>;

const actions: Readonly<Record<string, Action>> = { list, show, delete: remove, prune };

export const run: Run<"sessions"> = async ({ args: [name = "list", ...ids], options }, terminal) => {
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action === undefined) {
    const known = Object.keys(actions).join(", ");
    throw usageFailure("badArgument", { message: `bdk sessions has no action "${name}"`, help: `it has ${known}` });
  }
  if ((name === "list" || name === "prune") && ids[0] !== undefined) {
    throw usageFailure("badArgument", { message: `bdk sessions ${name} does not take "${ids[0]}"` });
  }
  return action(ids, options, terminal);
};

/** What a list shows of a session; the facts that files and server have in common. */
type Listed = Pick<SessionRow, "id" | "status" | "turns" | "updatedAt" | "channelId"> & {
  readonly title?: string;
  readonly slug?: string;
};

async function list(_ids: readonly string[], options: Options, { out }: Terminal): Promise<number> {
  const sessions: readonly Listed[] =
    options.url === undefined
      ? agentStates(options).flatMap((agent) => readRows(agent).map((row) => ({ ...toPublic(row), ...named(agent) })))
      : await (await openServer(options, options.url)).sessions(options.limit);
  const shown = [...sessions].sort((left, right) => (left.id < right.id ? 1 : -1)).slice(0, options.limit);
  if (options.json) {
    await writeJson(out, { sessions: shown });
    return exit.ok;
  }
  if (shown.length === 0) await out.line(`no sessions in ${options.url ?? stateRootOf(options)}`);
  const rows = shown.map((each) => [
    each.id,
    ...(each.slug === undefined ? [] : [each.slug]),
    each.status,
    `${each.turns} ${each.turns === 1 ? "turn" : "turns"}`,
    each.updatedAt,
    plainLine(each.title ?? each.channelId),
  ]);
  for (const line of columns(rows, out.isTerminal ? { width: out.columns } : {})) await out.line(line);
  return exit.ok;
}

async function show(ids: readonly string[], options: Options, { out }: Terminal): Promise<number> {
  const sessionId = requireId(ids, "show");
  let trajectory: Trajectory;
  let session: Listed | undefined;
  if (options.url === undefined) {
    const { agent, row } = findSession(options, sessionId);
    session = { ...toPublic(row), ...named(agent) };
    trajectory = foldTrajectory(sessionId, readTrace(tracePath(agent, sessionId)));
  } else {
    const server = await openServer(options, options.url);
    trajectory = foldTrajectory(sessionId, await server.events(sessionId));
    session = (await server.sessions(undefined)).find(({ id }) => id === sessionId);
  }
  if (options.json) {
    await writeJson(out, { session, trajectory });
    return exit.ok;
  }
  for (const [name, value] of Object.entries(session ?? { id: sessionId })) {
    if (typeof value === "string" || typeof value === "number" || value === true)
      await out.line(`${name}: ${plainLine(String(value))}`);
  }
  for (const { toolName, args, isError } of trajectory.toolCalls) {
    await out.line(`${isError ? "failed" : "called"}: ${toolName} ${JSON.stringify(args)}`);
  }
  if (trajectory.error !== undefined) await out.line(`error: ${plainText(trajectory.error)}`);
  await out.line();
  await out.line(plainText(trajectory.reply));
  return exit.ok;
}

async function remove(ids: readonly string[], options: Options, { out }: Terminal): Promise<number> {
  const sessionId = requireId(ids, "delete");
  requireFiles(options, "delete");
  const { agent } = findSession(options, sessionId);
  if (!options["dry-run"]) deleteSession(agent, sessionId);
  return tell([sessionId], 0, options, out);
}

async function prune(_ids: readonly string[], options: Options, { out }: Terminal): Promise<number> {
  requireFiles(options, "prune");
  const age = options["older-than"];
  if (age === undefined) {
    throw usageFailure("badOptionValue", { message: "bdk sessions prune needs --older-than", help: "such as 30d" });
  }
  const before = Date.now() - readAge(age);
  const deleted: string[] = [];
  let strays = 0;
  for (const agent of agentStates(options)) {
    for (const sessionId of idleSince(agent, before)) {
      if (!options["dry-run"]) deleteSession(agent, sessionId);
      deleted.push(sessionId);
    }
    for (const file of strayTraces(agent, before)) {
      if (!options["dry-run"]) rmSync(file, { force: true });
      strays += 1;
    }
  }
  return tell(deleted, strays, options, out);
}

async function tell(
  deleted: readonly string[],
  strays: number,
  options: Options,
  out: Terminal["out"],
): Promise<number> {
  const dryRun = options["dry-run"];
  if (options.json) await writeJson(out, { deleted, strayTraces: strays, dryRun });
  else {
    for (const id of deleted) await out.line(`${dryRun ? "would delete" : "deleted"} ${id}`);
    if (strays > 0) await out.line(`${dryRun ? "would delete" : "deleted"} ${strays} traces without a session`);
    if (deleted.length === 0 && strays === 0) await out.line("nothing to delete");
  }
  return exit.ok;
}

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** `30d` in milliseconds. */
function readAge(text: string): number {
  const [, count = "", unit = ""] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  const ms = Number(count) * (units[unit] ?? Number.NaN);
  if (count !== "" && Number.isFinite(ms)) return ms;
  throw usageFailure("badOptionValue", {
    message: `--older-than cannot be "${text}"`,
    help: "a number with m, h, d or w, such as 30d",
  });
}

function requireId(ids: readonly string[], action: string): string {
  const [id] = ids;
  if (id !== undefined) return id;
  throw usageFailure("badArgument", {
    message: `bdk sessions ${action} needs a session id`,
    help: `usage: bdk sessions ${action} <sessionId> [options]`,
  });
}

/** Deleting is done on the files: there is no route for it. */
function requireFiles({ url }: Options, action: string): void {
  if (url === undefined) return;
  throw usageFailure("optionsExclude", {
    message: `bdk sessions ${action} works on the state root, not on --url`,
    help: "run it where the server's files are, with --state-root",
  });
}

function named({ slug }: AgentState): { readonly slug?: string } {
  return slug === undefined ? {} : { slug };
}

/** A row without what is only for the server itself. */
function toPublic({ continuationKey: _, messages: __, open: ___, ...row }: SessionRow): Listed {
  return row;
}
