import * as z from "zod/mini";
import type { Problem } from "../protocol.js";
import { unknownEvents } from "./events.js";
import { describeGitHub, describeWebhook } from "./github.js";
import { routeProblems } from "./routes.js";
import { describeSchema } from "./schema.js";
import { callable, check, type Described, isObject, present, wrongShape } from "./shape.js";
import { describeSlack } from "./slack.js";

const events = z.optional(z.record(z.string(), z.optional(callable)));

const route = z.looseObject({
  method: z.string(),
  path: z.string().check(z.startsWith("/", "must start with /")),
  description: z.optional(z.string()),
  bodySchema: z.optional(z.unknown()),
  querySchema: z.optional(z.unknown()),
  handler: callable,
});

const policy = z.custom<unknown>(
  (value) => typeof value === "function" || (isObject(value) && value.__agentServe === "auth"),
  "expected a policy such as localDevStrict(), or a function",
);

const channel = z.looseObject({
  pack: z.optional(z.string()),
  options: z.optional(z.unknown()),
  auth: z.optional(z.array(policy)),
  routes: z.optional(z.array(route)),
  events,
  onStart: z.optional(callable),
});

/** A channel: its route table with schemas, its auth policies by name, and the events it handles. */
export async function describeChannel(value: unknown): Promise<Described> {
  const { data, problems } = check(channel, value);
  if (data === undefined) return { problems };
  const all: Problem[] = [...problems, ...(data.auth ?? []).flatMap(notCalled)];
  const routes = [];
  for (const [index, each] of (data.routes ?? []).entries()) {
    const schemas: Record<string, unknown> = {};
    for (const field of ["bodySchema", "querySchema"] as const) {
      if (each[field] == null) continue;
      const at = `routes.${index}.${field}`;
      const found = await describeSchema(each[field], at, "input", "value");
      all.push(...found.problems);
      if (found.problems.length === 0 && found.validates === "json-schema") all.push(plainSchema(at));
      schemas[field] = found.schema;
    }
    routes.push(present({ method: each.method, path: each.path, description: each.description, ...schemas }));
  }
  const names = Object.keys(data.events ?? {}).sort();
  const pack = data.pack === undefined ? undefined : packs[data.pack]?.(data.options);
  if (pack !== undefined) all.push(...pack.problems);
  return {
    problems: [...all, ...routeProblems(data.routes ?? [], data.pack), ...unknownEvents(names)],
    facts: present({
      pack: data.pack,
      options: pack?.facts,
      auth: data.auth?.map(schemeOf),
      routes,
      events: names,
    }),
  };
}

/** `auth: [localDevStrict]`: as a policy of one's own it would fail with each request. */
function notCalled(entry: unknown, index: number): readonly Problem[] {
  if (typeof entry !== "function" || entry.length > 0 || !/^(?:localDevStrict|allowAll)$/.test(entry.name)) return [];
  return [wrongShape(`auth.${index}`, `${entry.name} makes a policy and is none`, `call it: ${entry.name}()`)];
}

/** Nothing would check it: a tool's input has a validator for these, a request has not. */
function plainSchema(field: string): Problem {
  return {
    code: "unknownSchema",
    path: field,
    message: `${field}: a plain JSON Schema checks no request; a route takes zod, or another Standard Schema`,
    help: "for example z.object({ id: z.string() })",
  };
}

/** What is said of each pack's options. */
const packs: Readonly<Record<string, (options: unknown) => Described>> = {
  github: describeGitHub,
  slack: describeSlack,
  webhook: describeWebhook,
};

function schemeOf(policy: unknown): string {
  if (isObject(policy) && typeof policy.scheme === "string") return policy.scheme;
  return typeof policy === "function" && policy.name !== "" ? policy.name : "custom";
}

const hook = z.looseObject({ events });

const nothingHandled: Problem = {
  code: "noEvents",
  path: "events",
  message: "it listens to no event and is skipped",
  help: 'add a handler to `events`, such as "turn.completed"',
};

/** A hook: the events it handles. */
export function describeHook(value: unknown): Described {
  const { data, problems } = check(hook, value);
  if (data === undefined) return { problems };
  const handled = Object.entries(data.events ?? {}).filter(([, handler]) => handler !== undefined);
  const names = handled.map(([name]) => name).sort();
  const all: readonly Problem[] = names.length === 0 ? [nothingHandled] : unknownEvents(names);
  return { problems: [...problems, ...all], facts: { events: names } };
}
