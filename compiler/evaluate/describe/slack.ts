import * as z from "zod/mini";
import type { Problem } from "../protocol.js";
import { callable, check, type Described, present, text } from "./shape.js";

const handler = z.optional(callable);

const prompt = z.strictObject({ title: text, message: text });

const status = z.union([
  z.literal(false),
  z.strictObject({
    reasoning: z.optional(z.boolean()),
    tools: z.optional(z.boolean()),
    idle: z.optional(z.array(text).check(z.maxLength(10, "Slack takes ten texts at most"))),
  }),
]);

/** What `slackChannel` takes. An option that nobody reads would be a bot that stays silent for no visible reason. */
const options = z.strictObject({
  envPrefix: z.optional(z.string().check(z.regex(/^\w*$/, "is the beginning of a variable's name, such as TRIAGE"))),
  engagement: z.optional(
    z.strictObject({
      channelPosts: z.optional(
        z.strictObject({
          allow: z.array(text),
          posts: z.optional(z.enum(["top-level", "all"])),
          debounceMs: z.optional(z.number().check(z.nonnegative(), z.maximum(600_000, "is ten minutes at most"))),
        }),
      ),
    }),
  ),
  onAppMention: handler,
  onDirectMessage: handler,
  onChannelPost: handler,
  reply: z.optional(
    z.strictObject({ mode: z.optional(z.enum(["post", "stream", "agent"])), status: z.optional(status) }),
  ),
  suggestedPrompts: z.optional(z.array(prompt).check(z.maxLength(4, "Slack shows four at most"))),
  suggestedPromptsTitle: z.optional(z.string()),
  continuation: z.optional(z.literal("slack.dmthread/v2", 'is "slack.dmthread/v2", or left out')),
  apiUrl: z.optional(z.string().check(z.regex(/^https?:\/\//, "is an http or https URL"))),
  events: z.optional(z.unknown()),
});

const handlers = ["onAppMention", "onDirectMessage", "onChannelPost"] as const;

/** A Slack channel's options: what is wrong with them, and those that say what the app needs of Slack. */
export function describeSlack(value: unknown): Described {
  const { data, problems } = check(options, value ?? {});
  if (data === undefined) return { problems };
  const { envPrefix, engagement, reply, suggestedPrompts, suggestedPromptsTitle, continuation } = data;
  const given = handlers.filter((name) => data[name] !== undefined);
  const facts = present({
    ...(given.length > 0 && { handlers: given }),
    envPrefix,
    channelPosts: engagement?.channelPosts,
    reply,
    suggestedPrompts,
    suggestedPromptsTitle,
    continuation,
  });
  const isUnheard = data.onChannelPost !== undefined && engagement?.channelPosts === undefined;
  return { facts, problems: isUnheard ? [unheard] : [] };
}

const unheard: Problem = {
  code: "badDefinition",
  path: "onChannelPost",
  message: "onChannelPost is never called: no channel's posts are engaged",
  help: 'name the channels: engagement: { channelPosts: { allow: ["#alerts"] } }',
};
