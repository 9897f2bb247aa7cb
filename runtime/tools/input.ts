import type { Sections } from "../host/sections.js";
import type { ToolEntry } from "../manifest/schema.js";
import type { Refusal } from "../session/ports.js";
import { formatPath, refuseInput } from "./issues.js";
import type { JsonSchemaSection } from "./json-schema.js";
import { messageOf } from "./result.js";

/** The value as the tool takes it, or why not. */
export type Checked = { readonly value: unknown } | Refusal;
export type InputCheck = (input: unknown) => Checked | Promise<Checked>;

type Path = readonly (PropertyKey | { readonly key: PropertyKey })[];
/** A schema's own check of a value. */
export type Validator = (value: unknown) => Result | Promise<Result>;
type Result =
  | { readonly value: unknown }
  | { readonly issues: readonly { readonly message: string; readonly path?: Path }[] };

/** How a tool's input is checked: by the schema's own validator, by JSON Schema, or for being an object. */
export function createInputCheck(entry: ToolEntry, schema: unknown, sections: Sections): InputCheck {
  const { name } = entry;
  const standard = standardValidator(schema);
  if (standard !== undefined) {
    const broken = (error: unknown) =>
      refuseInput(name, [{ path: "", message: `its inputSchema threw: ${messageOf(error)}` }]);
    return (input) => {
      try {
        const result = standard(input);
        return "then" in result ? result.then((late) => toChecked(name, late)).catch(broken) : toChecked(name, result);
      } catch (error) {
        return broken(error);
      }
    };
  }
  if (entry.validates === "json-schema") return jsonSchemaCheck(entry, sections);
  return (input) =>
    typeof input === "object" && input !== null && !Array.isArray(input)
      ? { value: input }
      : refuseInput(name, [{ path: "", message: "must be an object" }]);
}

/** A schema's own check: Standard Schema, or the `safeParse` of zod before 3.24. */
export function standardValidator(schema: unknown): Validator | undefined {
  if ((typeof schema !== "object" && typeof schema !== "function") || schema === null) return undefined;
  if ("~standard" in schema) {
    const standard = schema["~standard"] as { validate(value: unknown): Result | Promise<Result> };
    return (value) => standard.validate(value);
  }
  if ("safeParse" in schema && typeof schema.safeParse === "function") {
    const parser = schema as {
      safeParse(value: unknown): { success: boolean; data?: unknown; error?: { issues: [] } };
    };
    return (value) => {
      const parsed = parser.safeParse(value);
      return parsed.success ? { value: parsed.data } : { issues: parsed.error?.issues ?? [] };
    };
  }
  return undefined;
}

function toChecked(name: string, result: Result): Checked {
  if (!("issues" in result) || result.issues === undefined) return result as { readonly value: unknown };
  return refuseInput(
    name,
    result.issues.map(({ path = [], message }) => ({ path: formatPath(path), message })),
  );
}

/** Compiled at the first call: a schema nobody uses costs nothing. */
function jsonSchemaCheck({ name, inputSchema }: ToolEntry, sections: Sections): InputCheck {
  let check: ((input: unknown) => Checked) | undefined;

  async function load(): Promise<(input: unknown) => Checked> {
    const section = (await sections["json-schema"]?.()) as JsonSchemaSection | undefined;
    if (section === undefined) {
      throw new Error(
        "this server was built without JSON Schema checks; build it with `bdk build --include json-schema`",
      );
    }
    const problems = section.compileSchema(inputSchema);
    check = (input) => {
      const issues = problems(input);
      return issues.length === 0 ? { value: input } : refuseInput(name, issues);
    };
    return check;
  }

  return (input) => (check === undefined ? load().then((loaded) => loaded(input)) : check(input));
}
