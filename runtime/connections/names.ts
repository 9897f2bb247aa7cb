/** What the model calls the tools of connections. Source: the catalog of `http-api.md` (model-facing names), decision 29. */
import { createHash } from "node:crypto";

/** Longest name that every provider takes. */
const longest = 64;

/** Room for the connection's own name, so that tools stay told apart. */
const longestPrefix = 40;

/** Tools through which the model reaches connections that don't advertise theirs. */
export const listToolsName = "mcp_list_tools";
export const callToolName = "mcp_call_tool";

/** What every tool name of a connection starts with: `linear__`. */
export function prefixOf(connection: string): string {
  return `${shorten(connection, longestPrefix)}__`;
}

/**
 * Name of a connection's tool for the model. Of the server's name, what providers refuse is replaced; a name that had to
 * be changed ends in a hash of the original, so that no two become one.
 *
 * @example modelName("linear", "issues.list") // "linear__issues_list_5f3a9c"
 */
export function modelName(connection: string, tool: string): string {
  const prefix = prefixOf(connection);
  return prefix + shorten(tool, longest - prefix.length);
}

function shorten(name: string, room: number): string {
  const clean = name.replaceAll(/[^A-Za-z0-9_-]/g, "_");
  if (clean === name && clean.length <= room) return clean;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 6);
  return `${clean.slice(0, room - hash.length - 1)}_${hash}`;
}
