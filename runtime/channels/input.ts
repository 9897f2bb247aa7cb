import type { StandardSchema } from "../authoring/schema.js";
import { standardValidator } from "../tools/input.js";
import { formatPath } from "../tools/issues.js";
import type { ChannelRefusal } from "./contract.js";

type Read = { readonly value: unknown } | ChannelRefusal;

/** The body as its type says: JSON, a form's fields, text; `undefined` for none, and for what is none of these. */
export function parseBody(bytes: Buffer, contentType: string | undefined, isJson: boolean): Read {
  if (bytes.length === 0) return { value: undefined };
  const type = contentType?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (/^application\/(?:[\w.+-]+\+)?json$/.test(type) || (isJson && (type === "" || type === "text/plain"))) {
    return parseJson(bytes.toString("utf8").replace(/^\uFEFF/, ""));
  }
  if (type === "application/x-www-form-urlencoded") return { value: fieldsOf(new URLSearchParams(bytes.toString())) };
  if (type.startsWith("text/")) return { value: bytes.toString("utf8") };
  return { value: undefined };
}

/** Checks a body or a query by the route's schema; the value is what the schema makes of it. */
export async function checkInput(what: "body" | "query", schema: StandardSchema, value: unknown): Promise<Read> {
  const validate = standardValidator(schema);
  if (validate === undefined) throw new TypeError(`the route's ${what}Schema is no zod schema and no Standard Schema`);
  const result = await validate(value);
  if (!("issues" in result) || result.issues === undefined) {
    return { value: (result as { readonly value: unknown }).value };
  }
  const issues = result.issues.map(({ path = [], message }) => ({ path: formatPath(path), message }));
  const told = issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ");
  return refuse(`the ${what} is invalid: ${told}`, { issues });
}

/** Keys that would reach into prototypes are refused, as on every other route. */
function parseJson(text: string): Read {
  let isPoisoned = false;
  try {
    const value: unknown = JSON.parse(text, (key, part: unknown) => {
      if (key === "__proto__") isPoisoned = true;
      if (key === "constructor" && typeof part === "object" && part !== null && Object.hasOwn(part, "prototype")) {
        isPoisoned = true;
      }
      return part;
    });
    if (!isPoisoned) return { value };
  } catch {
    return refuse("the body is not valid JSON"); // where it breaks is the sender's to find out
  }
  return refuse("the body is not valid JSON, or has a key such as __proto__");
}

function fieldsOf(form: URLSearchParams): Readonly<Record<string, string | readonly string[]>> {
  const fields: Record<string, string | readonly string[]> = Object.create(null);
  for (const name of new Set(form.keys())) {
    const values = form.getAll(name);
    fields[name] = values.length === 1 ? (values[0] ?? "") : values;
  }
  return fields;
}

function refuse(message: string, details?: Readonly<Record<string, unknown>>): ChannelRefusal {
  return { is: "refused", code: "invalid_request", message, ...(details && { details }) };
}
