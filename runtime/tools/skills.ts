import type { AgentManifest } from "../manifest/schema.js";
import type { ToolSpec } from "../session/model.js";
import type { CallableTool, CallOutcome, PreparedCall, Refusal, SessionRecord } from "../session/ports.js";
import { refuseInput } from "./issues.js";
import { failed } from "./result.js";

/** Name of the framework's tool that reads skills. An authored tool of that name wins, and skills are then not loadable. */
export const loadSkillName = "load_skill";

export interface Skill {
  readonly name: string;
  readonly description: string;
  readonly markdown: string;
  /** Files beside SKILL.md, by relative path. */
  readonly files: ReadonlyMap<string, Buffer>;
}

/** The skills of a manifest with the bytes of their files. */
export function readSkills(agent: AgentManifest, files: Readonly<Record<string, string>>): readonly Skill[] {
  return agent.skills.map(({ name, description, markdown, files: entries }) => ({
    name,
    description: typeof description === "string" ? description : "",
    markdown: typeof markdown === "string" ? markdown : "",
    files: new Map(entries.map(({ path, sha256 }) => [path, Buffer.from(files[sha256] ?? "", "base64")])),
  }));
}

/** The part of the system prompt that tells which skills there are; empty without skills. */
export function skillCatalog(skills: readonly Skill[]): string {
  if (skills.length === 0) return "";
  const lines = skills.map(({ name, description }) => `- ${name}: ${description.replaceAll(/\s+/g, " ").trim()}`);
  return `## Skills\n\nBefore a task that one of these covers, read it with ${loadSkillName} and follow it.\n\n${lines.join("\n")}`;
}

export const loadSkillSpec: ToolSpec = {
  name: loadSkillName,
  description: "Reads a skill: its instructions, or one of the files beside them.",
  inputSchema: {
    type: "object",
    properties: {
      name: { type: "string", description: "Name of the skill." },
      file: { type: "string", description: "Path of a file of that skill; left out: its instructions." },
    },
    required: ["name"],
    additionalProperties: false,
  },
};

/** The tool that lets the model read skills when it needs them, so that the prompt holds only their descriptions. */
export function createLoadSkill(skills: (record: SessionRecord | undefined) => readonly Skill[]): CallableTool {
  return {
    name: loadSkillName,
    execution: "server",
    modelOnly: true,
    prepare: (input) => prepare(skills, input),
  };
}

function prepare(
  skills: (record: SessionRecord | undefined) => readonly Skill[],
  input: unknown,
): PreparedCall | Refusal {
  const { name, file } = (typeof input === "object" && input !== null ? input : {}) as Readonly<
    Record<string, unknown>
  >;
  if (typeof name !== "string") return refuseInput(loadSkillName, [{ path: "name", message: "must be a string" }]);
  if (file !== undefined && typeof file !== "string") {
    return refuseInput(loadSkillName, [{ path: "file", message: "must be a string" }]);
  }
  return { effect: "read", needsApproval: () => false, run: ({ record }) => load(skills(record), name, file) };
}

function load(skills: readonly Skill[], name: string, file: string | undefined): CallOutcome {
  const skill = skills.find((each) => each.name === name);
  if (skill === undefined) {
    return failed(`There is no skill "${name}". There are: ${skills.map((each) => each.name).join(", ")}.`);
  }
  const paths = [...skill.files.keys()];
  if (file === undefined) {
    const output = paths.length === 0 ? { markdown: skill.markdown } : { markdown: skill.markdown, files: paths };
    return { output, isError: false };
  }
  const bytes = skill.files.get(file);
  if (bytes === undefined)
    return failed(`Skill "${name}" has no file "${file}". It has: ${paths.join(", ") || "none"}.`);
  const text = bytes.toString("utf8");
  return { output: text.includes("\uFFFD") ? { base64: bytes.toString("base64") } : { text }, isError: false };
}
