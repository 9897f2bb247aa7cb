import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { SessionEvent } from "../../runtime/session/event.js";
import type { SessionRow } from "../../runtime/session/ports.js";
import { failure } from "../exit.js";
import { projectFolder } from "../project.js";

/** One agent's part of a state root, read as the plain files it is. A server may be at work on it: files only grow. */
export interface AgentState {
  /** `undefined` where the state root belongs to one agent alone (`--mode single`). */
  readonly slug: string | undefined;
  readonly dir: string;
}

export interface StateOptions {
  readonly dir: string;
  readonly slug: string | undefined;
  readonly "state-root": string | undefined;
}

/** The state root that a server of this project uses by default, or the one that is named. */
export function stateRootOf(options: Pick<StateOptions, "dir" | "state-root">): string {
  const chosen = options["state-root"] ?? process.env.BDK_STATE_ROOT;
  return chosen === undefined ? join(projectFolder(options.dir), ".bdk") : resolve(chosen);
}

/** The agents that have state below a state root; the one of `--slug` only when that is given. */
export function agentStates(options: StateOptions): readonly AgentState[] {
  const root = stateRootOf(options);
  const found: AgentState[] = isAgentState(root) ? [{ slug: undefined, dir: root }] : [];
  const folders = existsSync(root) ? readdirSync(root, { withFileTypes: true }) : [];
  for (const { name } of folders.filter((each) => each.isDirectory())) {
    if (isAgentState(join(root, name))) found.push({ slug: name, dir: join(root, name) });
  }
  if (options.slug === undefined) return found;
  const chosen = found.filter(({ slug }) => slug === options.slug);
  if (chosen.length > 0) return chosen;
  const names = found.flatMap(({ slug }) => slug ?? []);
  throw failure("chooseAgent", {
    message: `${root} holds no sessions of an agent "${options.slug}"`,
    help: names.length === 0 ? "pass --state-root, or start a session first" : `there is ${names.join(", ")}`,
  });
}

const isAgentState = (dir: string) => existsSync(join(dir, "sessions")) && existsSync(join(dir, "traces"));

/** The sessions there are, newest first. */
export function readRows({ dir }: AgentState): readonly SessionRow[] {
  const rows = new Map<string, SessionRow>();
  for (const line of linesOf(join(dir, "index.ndjson"))) {
    if (!("id" in line)) continue;
    if ("gone" in line) rows.delete(line.id);
    else rows.set(line.id, line);
  }
  return [...rows.values()]
    .filter(({ id }) => existsSync(join(dir, "sessions", id, "session.json")))
    .sort((left, right) => (left.id < right.id ? 1 : -1));
}

type IndexLine = SessionRow | { readonly id: string; readonly gone: true } | { readonly claim: unknown };

function linesOf(file: string): readonly IndexLine[] {
  if (!existsSync(file)) return [];
  const text = readFileSync(file, "utf8");
  // What follows the last newline is being written.
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as IndexLine);
}

/** Path of a session's events. */
export function tracePath({ dir }: AgentState, sessionId: string): string {
  return join(dir, "traces", `${sessionId}.ndjson`);
}

/** A session and the agent that it belongs to. */
export interface FoundSession {
  readonly agent: AgentState;
  readonly row: SessionRow;
}

/** Looks for a session in every agent's state. */
export function findSession(options: StateOptions, sessionId: string): FoundSession {
  for (const agent of agentStates(options)) {
    const row = readRows(agent).find(({ id }) => id === sessionId);
    if (row !== undefined) return { agent, row };
  }
  throw failure("badInput", {
    message: `there is no session ${sessionId} in ${stateRootOf(options)}`,
    help: "bdk sessions list shows what there is",
  });
}

/**
 * Events of a trace file; an unfinished last line is left out.
 *
 * @throws CommandFailure when the file can't be read or holds something else.
 */
export function readTrace(file: string): readonly SessionEvent[] {
  const bad = (message: string) =>
    failure("badInput", { message, help: "pass a trace such as .bdk/<slug>/traces/ses_….ndjson" });
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw bad(`cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  const lines = text.split("\n");
  const rest = lines.pop() ?? "";
  const events = lines.filter((line) => line.trim() !== "").map((line, at) => parseEvent(line, file, at + 1, bad));
  // A file that was written by hand may lack the last newline.
  if (rest.trim() === "") return events;
  try {
    return [...events, JSON.parse(rest) as SessionEvent];
  } catch (error) {
    if (error instanceof SyntaxError) return events;
    throw error;
  }
}

function parseEvent(line: string, file: string, number: number, bad: (message: string) => Error): SessionEvent {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null && "type" in value && "index" in value && "data" in value) {
      return value as SessionEvent;
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw bad(`line ${number} of ${file} is no session event`);
}
