/**
 * Time arguments under `asOf`: a tool must not be asked about a later time than the session's own. Decision 33.
 * A time argument is a property with `format: "date-time" | "date"` or `x-bdk-time: true`, at any depth.
 */

interface TimeField {
  readonly path: readonly string[];
}

/** The time arguments that an input schema declares. */
export function timeFields(schema: unknown, path: readonly string[] = []): readonly TimeField[] {
  if (typeof schema !== "object" || schema === null) return [];
  const found: TimeField[] = [];
  const { properties, format, "x-bdk-time": isTime } = schema as Readonly<Record<string, unknown>>;
  if (path.length > 0 && (isTime === true || format === "date-time" || format === "date")) found.push({ path });
  if (typeof properties === "object" && properties !== null) {
    for (const [name, property] of Object.entries(properties)) found.push(...timeFields(property, [...path, name]));
  }
  return found;
}

const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/i;
const day = /^\d{4}-\d{2}-\d{2}$/;

/** Why a call may not run in a session that is frozen at `asOf`; `undefined` when it may. */
export function checkTimes(fields: readonly TimeField[], input: unknown, asOf: string): string | undefined {
  const problems = fields.flatMap(({ path }) => {
    const problem = problemOf(valueAt(input, path), asOf);
    return problem === undefined ? [] : [`${path.join(".")} ${problem}`];
  });
  if (problems.length === 0) return undefined;
  return `This session is frozen at ${asOf}: ${problems.join("; ")}. Give an absolute ISO-8601 time no later than that.`;
}

function problemOf(value: unknown, asOf: string): string | undefined {
  if (value === undefined || value === null) return "is left out";
  if (typeof value !== "string" || !(instant.test(value) || day.test(value)) || Number.isNaN(Date.parse(value))) {
    return "is not an absolute time";
  }
  return Date.parse(value) > Date.parse(asOf) ? `(${value}) is later` : undefined;
}

function valueAt(input: unknown, path: readonly string[]): unknown {
  let value = input;
  for (const key of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value;
}
