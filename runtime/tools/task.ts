import type { AgentManifest } from "../manifest/schema.js";
import type { ToolSpec } from "../session/model.js";
import type { CallableTool } from "../session/ports.js";
import { refuseInput } from "./issues.js";

/** Name of the built-in tool that hands work to a subagent. */
export const taskName = "task";

type Subagents = AgentManifest["subagents"];

/** Tells the model whom it can ask, and what for. */
export function taskSpec(subagents: Subagents): ToolSpec {
  const lines = subagents.map(({ name, description }) => {
    const told = typeof description === "string" ? description.replaceAll(/\s+/g, " ").trim() : "";
    return `- ${name}: ${told}`;
  });
  return {
    name: taskName,
    description: `Hands work to a subagent, which sees nothing of this conversation, and gives its answer. There are:\n${lines.join("\n")}`,
    inputSchema: {
      type: "object",
      properties: {
        subagent: { type: "string", enum: subagents.map(({ name }) => name), description: "Who does the work." },
        prompt: {
          type: "string",
          minLength: 1,
          description: "All that the subagent needs to know, and what to answer.",
        },
      },
      required: ["subagent", "prompt"],
      additionalProperties: false,
    },
  };
}

/** The tool itself: the turn loop carries its calls out. */
export function createTask(subagents: Subagents): CallableTool {
  const names = subagents.map(({ name }) => name);
  return {
    name: taskName,
    execution: "server",
    modelOnly: true,
    prepare(input) {
      const { subagent, prompt } = (typeof input === "object" && input !== null ? input : {}) as Readonly<
        Record<string, unknown>
      >;
      const known = names.find((name) => name === subagent);
      const issues = [
        ...(known === undefined ? [{ path: "subagent", message: `must be one of ${names.join(", ")}` }] : []),
        ...(typeof prompt === "string" && prompt.trim() !== ""
          ? []
          : [{ path: "prompt", message: "must be a text that is not empty" }]),
      ];
      if (known === undefined || typeof prompt !== "string" || issues.length > 0) return refuseInput(taskName, issues);
      return {
        effect: "read",
        delegate: { subagent: known, prompt },
        needsApproval: () => false,
        run: () => Promise.reject(new Error("a task is carried out by the turn loop")),
      };
    },
  };
}
