import type { JsonValue } from "../../session/event.js";
import type { ModelMessage, StepPart, ToolSpec } from "../harness.js";

const introduction = "This is the offline model built into BDK: no network, no AI, the same answer every time.";
/** Most characters of one result in a reply. */
const maxResult = 2_000;

/** What the last messages say, read from the end: a turn costs the same however long the conversation is. */
export interface Moment {
  /** What the user said since the last reply. */
  readonly message: string;
  /** Results of the step before, in order. */
  readonly results: readonly Extract<ModelMessage, { role: "tool" }>[];
}

export function readMoment(messages: readonly ModelMessage[]): Moment {
  let at = messages.length - 1;
  const said: string[] = [];
  const results: Extract<ModelMessage, { role: "tool" }>[] = [];
  for (let message = messages[at]; message?.role === "tool"; message = messages[--at]) results.unshift(message);
  while (at >= 0 && messages[at]?.role !== "user") at -= 1;
  for (let message = messages[at]; message?.role === "user"; message = messages[--at]) said.unshift(message.text);
  return { message: said.join("\n"), results };
}

/** A line `/tool_name {json}`. */
const command = /^\/([A-Za-z0-9_-]{1,64})(?:[ \t]+(\S.*))?$/;

/** What the model does without a script: the calls that the message spells out, then what came of them. */
export function reply({ message, results }: Moment, tools: readonly ToolSpec[]): readonly StepPart[] {
  if (results.length > 0) return [{ type: "text", delta: tell(results) }];
  const parts: StepPart[] = [];
  const problems: string[] = [];
  for (const line of message.split("\n")) {
    const [, toolName, json = "{}"] = command.exec(line.trim()) ?? [];
    if (toolName === undefined) continue;
    const args = parse(json);
    if (!tools.some((tool) => tool.name === toolName)) problems.push(`There is no tool named "${toolName}".`);
    else if (args === undefined) problems.push(`What follows /${toolName} is not JSON: ${json}`);
    else parts.push({ type: "call", toolName, args });
  }
  if (parts.length > 0 && problems.length === 0) return parts;
  return [{ type: "text", delta: introduce(message, tools, problems) }];
}

function introduce(message: string, tools: readonly ToolSpec[], problems: readonly string[]): string {
  const heard = problems.length > 0 ? problems.join("\n") : `You said: ${message}`;
  const names = tools.map((tool) => tool.name).join(", ");
  const hint =
    names === ""
      ? "This agent has no tools to call."
      : `A line /tool_name {"json": "input"} makes it call a tool: ${names}.`;
  return `${introduction}\n${heard}\n${hint}`;
}

function tell(results: Moment["results"]): string {
  const lines = results.map(({ toolName, output, isError }) => {
    const text = JSON.stringify(output);
    const shown = text.length > maxResult ? `${text.slice(0, maxResult)}… (${text.length} characters)` : text;
    return `${toolName} ${isError ? "failed with" : "returned"} ${shown}`;
  });
  return `${introduction}\n${lines.join("\n")}`;
}

function parse(json: string): JsonValue | undefined {
  try {
    return JSON.parse(json) as JsonValue;
  } catch {
    return undefined; // told to the user in the reply
  }
}
