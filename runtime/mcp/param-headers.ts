/** Tool arguments that clients repeat as `Mcp-Param-*` headers. Source: MCP 2026-07-28, `streamable-http`. */
import type { IncomingHttpHeaders } from "node:http";
import { decodeHeaderValue } from "./header-value.js";
import { type Fields, isFields } from "./message.js";

/** One property of a tool's input that is marked with `x-mcp-header`. */
export interface ParamHeader {
  /** In lower case: `mcp-param-region`. */
  readonly header: string;
  readonly path: readonly string[];
  readonly type: "string" | "integer" | "boolean";
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** The marked properties of a schema; marks that the protocol does not allow are none. */
export function readParamHeaders(schema: Fields): readonly ParamHeader[] {
  const found: ParamHeader[] = [];
  const visit = (at: Fields, path: readonly string[]): void => {
    if (!isFields(at.properties)) return;
    for (const [key, property] of Object.entries(at.properties)) {
      if (!isFields(property)) continue;
      const { "x-mcp-header": name, type } = property;
      const isMarked = typeof name === "string" && token.test(name) && isPrimitive(type);
      if (isMarked) found.push({ header: `mcp-param-${name.toLowerCase()}`, path: [...path, key], type });
      visit(property, [...path, key]);
    }
  };
  visit(schema, []);
  return found.filter(({ header }) => found.filter((other) => other.header === header).length === 1);
}

/** Keywords whose value is a map of names to schemas, and those whose value is data. */
const maps = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
const data = new Set(["enum", "const", "default", "examples"]);

/**
 * A schema without the marks that the protocol does not allow, for which clients have to leave the whole tool out of
 * their list. The same schema when it has none.
 */
export function withoutOddMarks(schema: Fields): Fields {
  const kept = new Set(readParamHeaders(schema).map(({ path }) => JSON.stringify(path)));
  let isChanged = false;
  /** @param path the properties that lead here; `undefined` where a mark is never allowed */
  const clean = (at: unknown, path: readonly string[] | undefined): unknown => {
    if (Array.isArray(at)) return at.map((each) => clean(each, undefined));
    if (!isFields(at)) return at;
    const entries = Object.entries(at).flatMap(([key, value]) => {
      if (data.has(key)) return [[key, value]];
      if (key === "x-mcp-header") {
        if (path !== undefined && kept.has(JSON.stringify(path))) return [[key, value]];
        isChanged = true;
        return [];
      }
      if (!maps.has(key) || !isFields(value)) return [[key, clean(value, undefined)]];
      const below = key === "properties" ? path : undefined;
      const schemas = Object.entries(value).map(([name, each]) => [name, clean(each, below && [...below, name])]);
      return [[key, Object.fromEntries(schemas)]];
    });
    return Object.fromEntries(entries);
  };
  const cleaned = clean(schema, []) as Fields;
  return isChanged ? cleaned : schema;
}

/** What is wrong with the headers beside these arguments; `undefined` when nothing is. */
export function checkParamHeaders(
  marked: readonly ParamHeader[],
  args: unknown,
  headers: IncomingHttpHeaders,
): string | undefined {
  for (const { header, path, type } of marked) {
    const value = valueAt(args, path);
    const sent = headers[header];
    const isAbsent = value === undefined || value === null;
    if (sent === undefined && isAbsent) continue;
    if (typeof sent !== "string") return `the header ${header} is missing`;
    const decoded = decodeHeaderValue(sent);
    if (decoded === undefined) return `the header ${header} is not encoded as the protocol says`;
    if (isAbsent || !isSame(decoded, value, type)) return `the header ${header} differs from "${path.join(".")}"`;
  }
  return undefined;
}

function isSame(header: string, value: unknown, type: ParamHeader["type"]): boolean {
  if (type === "integer" && typeof value === "number") return /^-?\d+(\.0+)?$/.test(header) && Number(header) === value;
  return header === String(value);
}

function valueAt(args: unknown, path: readonly string[]): unknown {
  let at = args;
  for (const key of path) at = isFields(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  return at;
}

function isPrimitive(type: unknown): type is ParamHeader["type"] {
  return type === "string" || type === "integer" || type === "boolean";
}
