import * as z from "zod/mini";
import type { Problem } from "../protocol.js";
import { check, type Described, milliseconds, present, text, wrongShape } from "./shape.js";

const shape = z.looseObject({
  description: z.optional(z.string()),
  advertiseTools: z.optional(z.boolean()),
  // Strict: a misspelt `allow` would allow everything.
  tools: z.optional(z.strictObject({ allow: z.optional(z.array(z.string())), block: z.optional(z.array(z.string())) })),
  readTools: z.optional(z.array(z.string())),
  needsApproval: z.optional(z.union([z.boolean(), z.array(z.string())])),
  timeoutMs: z.optional(milliseconds),
  url: z.optional(text),
  headers: z.optional(z.record(z.string(), z.optional(z.string()))),
  oauth: z.optional(z.boolean()),
  transport: z.optional(z.literal("sse")),
  command: z.optional(text),
  args: z.optional(z.array(z.string())),
  env: z.optional(z.record(z.string(), z.optional(z.string()))),
  cwd: z.optional(text),
  agent: z.optional(text),
  cursorAccount: z.optional(z.boolean()),
});

/** A connection: how the server is reached, without headers, arguments or the values of variables. */
export function describeConnection(value: unknown): Described {
  const { data, problems } = check(shape, value);
  if (data === undefined) return { problems };
  if (data.cursorAccount === true) {
    return {
      problems: [
        {
          code: "privateService",
          path: "cursorAccount",
          message: "servers of a Cursor account need a private service of Cursor's",
          help: "connect to the server itself with { url, headers } or { command, args }",
        },
      ],
    };
  }
  const ways = (["url", "command", "agent"] as const).filter((each) => data[each] !== undefined);
  const [way] = ways;
  if (way === undefined || ways.length > 1) {
    const found = ways.length === 0 ? "none of them" : ways.join(" and ");
    return {
      problems: [
        ...problems,
        wrongShape("", `a connection has exactly one of url, command and agent; this has ${found}`),
      ],
    };
  }
  const target = way === "url" ? originOf(data.url ?? "") : (data[way] ?? "");
  if (target === undefined) {
    return {
      problems: [...problems, wrongShape("url", `"${data.url}" is not a URL`, "write it whole, with https://")],
    };
  }
  const transport = way === "url" ? "http" : way === "command" ? "stdio" : "peer";
  const { description, advertiseTools, tools, readTools, needsApproval, oauth } = data;
  const variables = variablesOf([
    ...(way === "url" ? [data.url, ...Object.values(data.headers ?? {})] : []),
    ...(way === "command" ? Object.values(data.env ?? {}) : []),
  ]);
  return {
    problems: [...problems, ...strayFields(data, way), ...badHeaders(data.headers)],
    facts: present({
      description,
      transport,
      target,
      advertiseTools,
      tools: tools && present({ allow: tools.allow, block: tools.block }),
      readTools,
      needsApproval,
      oauth,
      variables: variables.length === 0 ? undefined : variables,
    }),
  };
}

/** Fields that belong to another way of reaching a server: left out in silence they would be missed. */
function strayFields(data: Readonly<Record<string, unknown>>, way: keyof typeof belongTo): readonly Problem[] {
  return Object.entries(belongTo)
    .filter(([other]) => other !== way)
    .flatMap(([other, fields]) =>
      fields
        .filter((field) => data[field] !== undefined)
        .map((field) => wrongShape(field, `belongs to a connection with ${other}, and this one has ${way}`)),
    );
}

/** Names that no request can carry; values are known when the connection opens. */
function badHeaders(headers: object = {}): readonly Problem[] {
  return Object.keys(headers)
    .filter((name) => !/^[\w!#$%&'*+.^`|~-]+$/.test(name))
    .map((name) => wrongShape("headers", `"${name}" is not the name of a header`));
}

const belongTo = {
  url: ["headers", "oauth", "transport"],
  command: ["args", "env", "cwd"],
  agent: [],
} as const satisfies Record<string, readonly string[]>;

/** Names of `${NAME}` in texts, sorted. */
function variablesOf(texts: readonly (string | undefined)[]): readonly string[] {
  const names = texts.flatMap((each) => [...(each ?? "").matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g)]);
  return [...new Set(names.map(([, name = ""]) => name))].sort();
}

/** Scheme, host and port of a URL; a placeholder such as `${HOST}` may stand in it, or for its beginning. */
function originOf(url: string): string | undefined {
  const [beginning] = /^\$\{[A-Za-z_][A-Za-z0-9_]*\}/.exec(url) ?? [];
  if (beginning !== undefined) return beginning;
  const readable = url.replace(/\$\{[^}]*\}/g, "placeholder");
  if (!URL.canParse(readable) || !/^https?:/.test(readable)) return undefined;
  return readable === url
    ? new URL(url).origin
    : (/^https?:\/\/[^/?#@]*(?=[/?#]|$)/.exec(url)?.[0] ?? new URL(readable).origin);
}
