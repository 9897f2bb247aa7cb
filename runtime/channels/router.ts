import type { Route } from "../authoring/channels.js";

/** Where a request goes; `allow` when only its method is wrong. */
export type RouteMatch =
  | { readonly is: "found"; readonly route: Route; readonly params: Readonly<Record<string, string>> }
  | { readonly is: "wrong-method"; readonly allow: readonly string[] }
  | { readonly is: "none" };

interface Pattern {
  readonly route: Route;
  readonly parts: readonly string[];
}

/** Finds routes by method and path. */
export type Router = (method: string, path: string) => RouteMatch;

/**
 * The router of one channel. A literal part wins over a parameter, from the left; `/` is the channel itself, and a
 * slash at the end makes no difference.
 *
 * @example createRouter(routes)("GET", "/status/7") // { is: "found", route, params: { id: "7" } }
 */
export function createRouter(routes: readonly Route[]): Router {
  const patterns = routes
    .map((route): Pattern => ({ route, parts: split(route.path) }))
    .sort((left, right) => rank(left).localeCompare(rank(right)));
  return (method, path) => {
    const parts = split(path).map(decode);
    const allow = new Set<string>();
    for (const { route, parts: pattern } of patterns) {
      const params = matchParts(pattern, parts);
      if (params === undefined) continue;
      if (route.method === method) return { is: "found", route, params };
      allow.add(route.method);
      if (route.method === "GET") allow.add("HEAD");
    }
    return allow.size === 0 ? { is: "none" } : { is: "wrong-method", allow: [...allow].sort() };
  };
}

function split(path: string): readonly string[] {
  return path.replace(/^\/|\/$/g, "").split("/");
}

/** Literal parts sort before parameters. */
function rank({ parts }: Pattern): string {
  return parts.map((part) => (part.startsWith(":") ? "1" : "0")).join("");
}

/** `undefined`: no text that a path could mean. */
function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined; // a broken escape names nothing
  }
}

function matchParts(
  pattern: readonly string[],
  parts: readonly (string | undefined)[],
): Readonly<Record<string, string>> | undefined {
  if (pattern.length !== parts.length) return undefined;
  const params: Record<string, string> = Object.create(null);
  for (const [at, wanted] of pattern.entries()) {
    const part = parts[at];
    if (part === undefined) return undefined;
    if (!wanted.startsWith(":")) {
      if (part !== wanted) return undefined;
    } else {
      if (part === "") return undefined;
      params[wanted.slice(1)] = part;
    }
  }
  return params;
}
