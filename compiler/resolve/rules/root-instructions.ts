import { diagnostic } from "../../diagnostics/diagnostic.js";
import { joinPath } from "../../source.js";
import type { Rule } from "../rule.js";

/** The root agent has instructions: a file, a folder, or inline in `agent.ts`. */
export const rootInstructions: Rule = ({ agent, definitions }) => {
  if (agent.base === "") return [];
  const own = definitions.filter(({ entry }) => entry.layer === "project" && entry.subagent === undefined);
  if (own.some(({ entry }) => entry.kind === "instructions")) return [];
  const config = own.find(({ entry }) => entry.kind === "agent");
  if (config !== undefined && "instructions" in config.fields) return [];
  const file = joinPath(agent.dir, agent.base, "instructions.md");
  return [
    diagnostic("instructionsMissing", {
      message: `the agent has no instructions: there is no ${file}`,
      at: { file, line: 1, column: 1 },
      help: `create ${file} and say in a few lines who the agent is and when to use which tool`,
    }),
  ];
};
