import type { ArtifactsApi, ArtifactTag } from "../authoring/artifacts.js";
import type { ArtifactsEntry } from "../manifest/schema.js";
import type { JsonObject } from "../session/event.js";
import type { ToolSpec } from "../session/model.js";
import type { CallableTool, CallOutcome, CallScope, PreparedCall, Refusal } from "../session/ports.js";
import { refuseInput } from "../tools/issues.js";
import { toJson } from "../tools/json-value.js";
import { failedWith } from "../tools/result.js";

/** Name of the model's tool for tagging. An authored tool of that name wins. */
export const tagArtifactName = "tag_artifact";

const texts = ["kind", "key", "title", "contents", "file", "contentType"] as const;
const required = ["kind", "key", "title"];

/** How the model is told of the tool: the kinds, and what their data looks like. */
export function tagArtifactSpec({ kinds }: ArtifactsEntry): ToolSpec {
  const lines = kinds.map(({ name, description, schema }) => {
    const told = typeof description === "string" ? description : "";
    return `- ${name}: ${told}${schema === undefined ? "" : ` data: ${JSON.stringify(schema)}`}`;
  });
  return {
    name: tagArtifactName,
    description: `Keeps a durable artifact of this session. The same kind and key replace what was there. Kinds:\n${lines.join("\n")}`,
    inputSchema: {
      type: "object",
      properties: {
        kind: { type: "string", enum: kinds.map(({ name }) => name) },
        key: { type: "string", description: "Names it among its kind; stays the same when it is updated." },
        title: { type: "string", description: "What people read in the list." },
        data: { description: "Facts about it, as the kind wants them." },
        contents: { type: "string", description: "Its text; or give file." },
        file: { type: "string", description: "Path of a file of the workspace to keep a copy of." },
        contentType: { type: "string", description: "Media type of the contents, such as text/markdown." },
      },
      required,
      additionalProperties: false,
    } satisfies JsonObject,
  };
}

/** The tool that lets the model tag artifacts. */
export function createTagArtifact(artifacts: (scope: CallScope) => ArtifactsApi): CallableTool {
  return {
    name: tagArtifactName,
    execution: "server",
    modelOnly: true,
    prepare: (input) => prepare(input, artifacts),
  };
}

function prepare(input: unknown, artifacts: (scope: CallScope) => ArtifactsApi): PreparedCall | Refusal {
  const fields = (typeof input === "object" && input !== null ? input : {}) as Readonly<Record<string, unknown>>;
  const issues = texts
    .filter((name) => (fields[name] ?? undefined) !== undefined || required.includes(name))
    .filter((name) => typeof fields[name] !== "string")
    .map((name) => ({ path: name, message: "must be a string" }));
  if (issues.length > 0) return refuseInput(tagArtifactName, issues);
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  return {
    effect: "write",
    needsApproval: () => false,
    run: (scope) => tag(given as unknown as ArtifactTag, scope, artifacts),
  };
}

async function tag(
  artifact: ArtifactTag,
  scope: CallScope,
  artifacts: (scope: CallScope) => ArtifactsApi,
): Promise<CallOutcome> {
  if (scope.record?.dryRun === true) {
    const output = { dryRun: true, message: `This is a dry run: "${artifact.key}" was not kept.` };
    return { output, isError: false, stubbed: true };
  }
  try {
    const { id, kind, key, title } = await artifacts(scope).tag(artifact);
    return { output: toJson({ id, kind, key, title }), isError: false };
  } catch (error) {
    return failedWith(error);
  }
}
