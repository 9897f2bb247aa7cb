/** What a module's default export says, by kind. */
import { dirname } from "node:path";
import type { Kind } from "../../slots.js";
import type { EntryOutcome, EvaluationEntry, Problem } from "../protocol.js";
import { describeAgent, describeSubagent } from "./agent.js";
import { describeChannel, describeHook } from "./channel.js";
import { describeConnection } from "./connection.js";
import { settingsProblems } from "./error.js";
import { checkRoot } from "./extension-root.js";
import {
  describeArtifacts,
  describeExtension,
  describeExtensionPackage,
  describeOtel,
  describeReminder,
  describeResult,
  describeSchedule,
  describeStorage,
} from "./others.js";
import { describeInstructions, describeSkill } from "./prose.js";
import { type Described, isObject } from "./shape.js";
import { describeTool } from "./tool.js";

/** Absolute path that stands for a module's key. */
export type Locate = (key: string) => string;

type Describe = (value: unknown) => Described | Promise<Described>;

const byKind: Partial<Record<Kind, { readonly brand: string; readonly describe: Describe }>> = {
  agent: { brand: "agent", describe: describeAgent },
  subagent: { brand: "agent", describe: describeSubagent },
  instructions: { brand: "instructions", describe: describeInstructions },
  tool: { brand: "tool", describe: describeTool },
  skill: { brand: "skill", describe: describeSkill },
  hook: { brand: "hook", describe: describeHook },
  channel: { brand: "channel", describe: describeChannel },
  "mcp-connection": { brand: "connection", describe: describeConnection },
  "host-connection": { brand: "connection", describe: describeConnection },
  schedule: { brand: "schedule", describe: describeSchedule },
  reminder: { brand: "reminder", describe: describeReminder },
  artifacts: { brand: "artifacts", describe: describeArtifacts },
  result: { brand: "result", describe: describeResult },
  storage: { brand: "storage", describe: describeStorage },
  otel: { brand: "otel", describe: describeOtel },
  extension: { brand: "extension", describe: describeExtension },
};

/**
 * Reads one definition. Whatever it holds, this returns: even a getter that throws is a problem of that definition.
 *
 * @param locate Where modules stand; without it the root of an extension is not checked.
 */
export async function describeDefinition(
  entry: EvaluationEntry,
  value: unknown,
  locate?: Locate,
): Promise<EntryOutcome> {
  const { slug, id, kind } = entry;
  const row = byKind[kind];
  if (row === undefined) return { slug, id, problems: [], facts: {} };
  const brand = brandOf(value);
  // Text may stand by itself; what else is not ours was made by hand or by something else.
  if (brand !== row.brand && !(kind === "instructions" && typeof value === "string")) {
    return { slug, id, problems: [wrongKind(row.brand, brand, value)] };
  }
  try {
    const describe = id === "extension" ? describeExtensionPackage : row.describe;
    const { facts, problems } = await describe(value);
    const misplaced =
      entry.definedIn === undefined || locate === undefined ? [] : checkRoot(value, dirname(locate(entry.definedIn)));
    return { slug, id, problems: [...problems, ...misplaced], ...(facts === undefined ? {} : { facts }) };
  } catch (error) {
    const settings = settingsProblems(error);
    if (settings !== undefined) return { slug, id, problems: settings };
    const reason = error instanceof Error ? error.message : String(error);
    return {
      slug,
      id,
      problems: [{ code: "badDefinition", path: "", message: `reading the definition failed: ${reason}` }],
    };
  }
}

function brandOf(value: unknown): string | undefined {
  const holder: unknown = typeof value === "function" ? { __agentServe: Reflect.get(value, "__agentServe") } : value;
  return isObject(holder) && typeof holder.__agentServe === "string" ? holder.__agentServe : undefined;
}

function wrongKind(wanted: string, found: string | undefined, value: unknown): Problem {
  const helper = `define${wanted.replace(/^./, (first) => first.toUpperCase())}(…)`;
  const what =
    found === undefined
      ? value === undefined
        ? "nothing"
        : `a plain ${typeof value}`
      : `what ${found === "disable" ? "disable" : `define for "${found}"`} returns`;
  return {
    code: "wrongDefine",
    path: "",
    message: `the default export should be what ${helper} returns; it is ${what}`,
    help: `export default ${helper}`,
  };
}
