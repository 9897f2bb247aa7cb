import * as z from "zod/mini";
import { check, type Described, present, text, wrongShape } from "./shape.js";

const shape = z.looseObject({
  description: z.optional(z.string()),
  advertiseTools: z.optional(z.boolean()),
  tools: z.optional(z.looseObject({ allow: z.optional(z.array(z.string())), block: z.optional(z.array(z.string())) })),
  readTools: z.optional(z.array(z.string())),
  url: z.optional(text),
  headers: z.optional(z.record(z.string(), z.optional(z.string()))),
  oauth: z.optional(z.boolean()),
  command: z.optional(text),
  args: z.optional(z.array(z.string())),
  env: z.optional(z.record(z.string(), z.optional(z.string()))),
  agent: z.optional(text),
  cursorAccount: z.optional(z.boolean()),
});

/** A connection: how the server is reached, without headers, arguments or variables. */
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
  return {
    problems,
    facts: present({ description: data.description, transport, target, advertiseTools: data.advertiseTools }),
  };
}

/** Scheme, host and port of a URL; a placeholder such as `${HOST}` may stand in it. */
function originOf(url: string): string | undefined {
  const readable = url.replace(/\$\{[^}]*\}/g, "placeholder");
  if (!URL.canParse(readable) || !/^https?:/.test(readable)) return undefined;
  return readable === url
    ? new URL(url).origin
    : (/^https?:\/\/[^/?#@]*(?=[/?#]|$)/.exec(url)?.[0] ?? new URL(readable).origin);
}
