import { diagnostic } from "../../diagnostics/diagnostic.js";
import type { Rule } from "../rule.js";

/** The model sees tools and subagents side by side: one name for both confuses it. */
export const toolOrSubagent: Rule = ({ entries }) => {
  const tools = new Map(
    entries.filter(({ winner }) => winner.entry.kind === "tool").map(({ winner }) => [winner.name, winner] as const),
  );
  return entries
    .filter(({ winner }) => winner.entry.kind === "subagent")
    .flatMap(({ winner: subagent }) => {
      const tool = tools.get(subagent.name);
      if (tool === undefined) return [];
      return [
        diagnostic("toolSubagentClash", {
          message: `"${subagent.name}" is both a tool and a subagent`,
          at: [
            { span: subagent.span, primary: true, text: "the subagent" },
            { span: tool.span, text: "the tool" },
          ],
          help: "rename one of them, so that the model can tell them apart",
        }),
      ];
    });
};
