import { diagnostic } from "../../diagnostics/diagnostic.js";
import type { Rule } from "../rule.js";

/** `defineSchedule` has a prompt or a handler, never both and never neither. */
export const scheduleForm: Rule = ({ definition, slot, config, at }) => {
  if (slot.kind !== "schedule" || config === undefined) return [];
  const markdown = config.get("markdown");
  const run = config.get("run");
  if (markdown !== undefined && run !== undefined) {
    return [
      diagnostic("scheduleForm", {
        message: `the schedule "${definition.name}" has both markdown and run`,
        at: [
          { span: at(run.key), primary: true, text: "a handler" },
          { span: at(markdown.key), text: "and a prompt" },
        ],
        help: "keep one: markdown starts a session with that prompt, run is a handler",
      }),
    ];
  }
  if (markdown !== undefined || run !== undefined || config.open) return [];
  return [
    diagnostic("scheduleForm", {
      message: `the schedule "${definition.name}" has neither markdown nor run`,
      at: at(),
      help: "add `markdown` with a prompt, or `run` with a handler",
    }),
  ];
};
