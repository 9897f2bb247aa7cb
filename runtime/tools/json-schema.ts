/** The `json-schema` section: checks input against plain JSON Schema. Linked only when a tool needs it. */
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { formatPath } from "./issues.js";

export interface SchemaProblem {
  readonly path: string;
  readonly message: string;
}

/** What the section exports. */
export interface JsonSchemaSection {
  /** A check that returns what is wrong with a value; it never changes the value. Throws when the schema is unusable. */
  compileSchema(schema: object): (value: unknown) => readonly SchemaProblem[];
}

// Author's schemas come from API descriptions: unknown keywords and formats are passed over, as hosts do.
const options: Options = {
  allErrors: true,
  strict: false,
  validateFormats: true,
  logger: false,
  allowUnionTypes: true,
};

export const compileSchema: JsonSchemaSection["compileSchema"] = (schema) => {
  const validate = compile(schema);
  return (value) => (validate(value) ? [] : (validate.errors ?? []).map(toProblem));
};

/**
 * Draft 2020-12 unless the schema names an older draft, or only reads as one (tuples as `items: [...]`). The name itself is
 * kept from ajv, which knows one spelling of it.
 */
function compile(given: object): ValidateFunction {
  const { $schema = "", ...schema } = given as { readonly $schema?: unknown };
  const named = String($schema);
  const older = () => addFormats.default(new Ajv(options)).compile(schema);
  if (/draft-0[67]/.test(named)) return older();
  try {
    return addFormats.default(new Ajv2020(options)).compile(schema);
  } catch (error) {
    if (named !== "") throw error;
    return older();
  }
}

function toProblem(error: ErrorObject): SchemaProblem {
  const keys = error.instancePath
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  const params: Readonly<Record<string, unknown>> = error.params;
  if (error.keyword === "required") {
    return { path: formatPath([...keys, String(params.missingProperty)]), message: "is required" };
  }
  if (error.keyword === "additionalProperties") {
    return { path: formatPath([...keys, String(params.additionalProperty)]), message: "is not known" };
  }
  if (error.keyword === "enum" && Array.isArray(params.allowedValues)) {
    return {
      path: formatPath(keys),
      message: `must be one of ${params.allowedValues.map((value) => JSON.stringify(value)).join(", ")}`,
    };
  }
  return { path: formatPath(keys), message: error.message ?? `fails ${error.keyword}` };
}
