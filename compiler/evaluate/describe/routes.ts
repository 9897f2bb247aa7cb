/** A channel's route table: paths that can be reached, and no two routes for the same requests. */
import { packFacts } from "../../../runtime/manifest/packs.js";
import type { Problem } from "../protocol.js";
import { wrongShape } from "./shape.js";

interface Route {
  readonly method: string;
  readonly path: string;
}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** Every channel has a prefix of its own, `/v1/channels/<id>`, so that routes of different channels never meet. */
const mountPrefix = "/v1/channels/";

/** What is wrong with the routes of one channel. */
export function routeProblems(routes: readonly Route[], pack: string | undefined): readonly Problem[] {
  if (pack !== undefined && Object.hasOwn(packFacts, pack) && routes.length > 0) {
    const [first] = routes;
    const named = `${first?.method} ${first?.path}`;
    return [
      {
        code: "routeConflict",
        path: "routes",
        message: `${named} is never reached: a channel of the ${pack} pack answers with the pack's own routes`,
        help: "put routes of your own into a channel of their own",
      },
    ];
  }
  return [...routes.flatMap(pathProblems), ...conflicts(routes)];
}

function conflicts(routes: readonly Route[]): readonly Problem[] {
  const first = new Map<string, number>();
  const found: Problem[] = [];
  for (const [index, { method, path }] of routes.entries()) {
    const key = `${method} ${shapeOf(path)}`;
    const earlier = first.get(key);
    if (earlier === undefined) {
      first.set(key, index);
      continue;
    }
    const other = routes[earlier];
    const isSame = other?.path === path;
    found.push({
      code: "routeConflict",
      path: `routes.${index}`,
      message: isSame
        ? `${method} ${path} is there twice; the second is never reached`
        : `${method} ${path} answers the same requests as ${method} ${other?.path}, and is never reached`,
      also: { path: `routes.${earlier}`, text: "this one answers" },
      help: isSame
        ? "take one of the two away"
        : "names of parameters and a slash at the end make no difference; take one away",
    });
  }
  return found;
}

/** What a path matches: names of parameters say nothing, nor does a slash at the end. */
function shapeOf(path: string): string {
  const parts = path.replace(/^\/|\/$/g, "").split("/");
  return parts.map((part) => (part.startsWith(":") ? ":" : part)).join("/");
}

function pathProblems({ method, path }: Route, index: number): readonly Problem[] {
  const wrong = (field: string, message: string, help?: string) => [
    wrongShape(`routes.${index}.${field}`, message, help),
  ];
  if (!methods.includes(method)) return wrong("method", `"${method}" is none of ${methods.join(" ")}`);
  if (path.startsWith(mountPrefix)) {
    return wrong("path", `"${path}" would be below ${mountPrefix} twice`, "paths begin after the channel's own prefix");
  }
  const parts = path.replace(/^\/|\/$/g, "").split("/");
  const names = parts.filter((part) => part.startsWith(":"));
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  const reason = /[?#]/.test(path)
    ? "has a query or a fragment, which are no part of a path; describe a query with querySchema"
    : path !== "/" && parts.includes("")
      ? "has an empty part between two slashes"
      : parts.some((part) => part === "." || part === "..")
        ? "has a part . or .., which no request has"
        : path.includes("*")
          ? "has a *, and there are no wildcards; a parameter such as :id stands for one part"
          : /%[0-9A-Fa-f]{2}|[\s\\]/.test(path)
            ? "is written with escapes or blanks; write each part as it reads when it is decoded"
            : names.some((name) => !/^:[A-Za-z_]\w*$/.test(name))
              ? "has a parameter without a proper name, such as :id"
              : twice !== undefined
                ? `has the parameter ${twice} twice`
                : undefined;
  return reason === undefined ? [] : wrong("path", `"${path}" ${reason}`);
}
