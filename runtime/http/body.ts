import type { FastifyRequest } from "fastify";
import { RuntimeError } from "../errors.js";

/** A JSON object from outside: any key may be there, with anything in it. */
export type Fields = Readonly<Record<string, unknown>>;

/** The JSON object in a request's body; an absent body is `{}`. Keys that nobody reads are ignored. */
export function readBody(request: FastifyRequest): Fields {
  const { body } = request;
  if (body === undefined || body === null) return {};
  if (!isObject(body)) throw invalid("the body must be a JSON object");
  return body;
}

/** As `readBody`, for the routes that take files: 413 when all but `workspaceFiles` is more than `limit` bytes of JSON. */
export function readBodyWithFiles(request: FastifyRequest, limit: number): Fields {
  const body = readBody(request);
  const { "content-length": sent } = request.headers;
  if (sent !== undefined && Number(sent) <= limit) return body;
  const { workspaceFiles: _, ...rest } = body;
  if (isLargerThan(rest, limit)) {
    throw new RuntimeError("payload_too_large", `the body without "workspaceFiles" is larger than ${limit} bytes`);
  }
  return body;
}

function isLargerThan(value: Fields, limit: number): boolean {
  try {
    return Buffer.byteLength(JSON.stringify(value)) > limit;
  } catch (error) {
    if (error instanceof RangeError) return true; // nested so deep, or so large, that it can't be written
    throw error;
  }
}

/** The query string's fields; a repeated name is a list. */
export function readQuery(request: FastifyRequest): Fields {
  return isObject(request.query) ? request.query : {};
}

/** An optional string; `null` counts as absent. */
export function readString(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw invalid(`"${name}" must be a string`);
  return value;
}

/** A string that must be there and not be blank. */
export function requireString(fields: Fields, name: string): string {
  const value = readString(fields, name);
  if (value === undefined || value.trim() === "") throw invalid(`"${name}" is required and must be a non-empty string`);
  return value;
}

/** An optional `true` or `false`. */
export function readBoolean(fields: Fields, name: string): boolean | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "boolean") throw invalid(`"${name}" must be true or false`);
  return value;
}

/** An optional string out of a fixed set. */
export function readEnum<const T extends string>(fields: Fields, name: string, values: readonly T[]): T | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  const known = values.find((each) => each === value);
  if (known === undefined) throw invalid(`"${name}" must be one of ${values.map((each) => `"${each}"`).join(", ")}`);
  return known;
}

/** An optional whole number written as decimal digits, as query strings carry it. */
export function readIndex(fields: Fields, name: string, limits: { min: number; max: number }): number | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= limits.min && number <= limits.max)) {
    const range =
      limits.max === Number.MAX_SAFE_INTEGER ? `of at least ${limits.min}` : `from ${limits.min} to ${limits.max}`;
    throw invalid(`"${name}" must be a whole number ${range}`);
  }
  return number;
}

/** `workspaceFiles`: relative paths to texts, 413 past `limit` bytes of text in total. */
export function readWorkspaceFiles(fields: Fields, limit: number): Readonly<Record<string, string>> | undefined {
  const files = fields.workspaceFiles;
  if (files === undefined || files === null) return undefined;
  if (!isObject(files)) throw invalid('"workspaceFiles" must be an object of relative paths and texts');
  const checked: Record<string, string> = Object.create(null);
  let bytes = 0;
  for (const [path, text] of Object.entries(files)) {
    if (!isRelativePath(path))
      throw invalid(`"workspaceFiles" has a path that leaves the workspace: ${JSON.stringify(path)}`);
    if (typeof text !== "string") throw invalid(`"workspaceFiles" must hold texts; ${JSON.stringify(path)} is not one`);
    bytes += Buffer.byteLength(text);
    if (bytes > limit)
      throw new RuntimeError("payload_too_large", `"workspaceFiles" is larger than ${limit} bytes in total`);
    checked[path] = text;
  }
  return checked;
}

/** The `Idempotency-Key` header, when it is there. */
export function readIdempotencyKey(request: FastifyRequest): string | undefined {
  const key = request.headers["idempotency-key"];
  if (key === undefined) return undefined;
  if (typeof key !== "string" || !/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw invalid("Idempotency-Key must be 1 to 255 printable characters");
  }
  return key;
}

/** The session id in the path; anything that cannot be one is 404 before it comes near a disk. */
export function readSessionId(request: FastifyRequest): string {
  const { sessionId } = request.params as { sessionId: string };
  if (!/^ses_[A-Za-z0-9_-]{1,96}$/.test(sessionId)) throw new RuntimeError("not_found", "no such session");
  return sessionId;
}

function isRelativePath(path: string): boolean {
  if (path === "" || path.length > 1024 || path.startsWith("/") || /[\0\\]/.test(path) || /^[A-Za-z]:/.test(path))
    return false;
  return path.split("/").every((part) => part !== "" && part !== "." && part !== "..");
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(message: string): RuntimeError {
  return new RuntimeError("invalid_request", message);
}
