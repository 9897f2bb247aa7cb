import * as z from "zod/mini";
import { githubHandlers } from "../../../runtime/manifest/packs.js";
import type { Problem } from "../protocol.js";
import { callable, check, type Described, isObject, present, text } from "./shape.js";

const handler = z.optional(callable);
const flag = z.optional(z.boolean());

/** What `githubChannel` takes. An option that nobody reads would be a bot that stays silent for no visible reason. */
const options = z.strictObject({
  botName: z.optional(text),
  envPrefix: z.optional(z.string().check(z.regex(/^\w*$/, "is the beginning of a variable's name, such as TRIAGE"))),
  webhookEvents: z.optional(
    z.array(z.string().check(z.regex(/^[a-z0-9_]+$/, "is a webhook event's name, such as pull_request"))),
  ),
  cursorAccount: z.optional(z.unknown()),
  deliverReplies: flag,
  progress: z.optional(z.strictObject({ reactions: flag, commitStatus: flag, banner: flag })),
  onPullRequest: handler,
  onIssueComment: handler,
  onReviewComment: handler,
  onReview: handler,
  onIssue: handler,
  onCheckRun: handler,
  onCheckSuite: handler,
  onPush: handler,
  onEvent: handler,
  events: z.optional(z.unknown()),
});

/** A GitHub channel's options: what is wrong with them, and those that say what the webhook has to send. */
export function describeGitHub(value: unknown): Described {
  const { data, problems } = check(options, value ?? {});
  if (data === undefined) return { problems };
  const { botName, envPrefix, webhookEvents, deliverReplies, progress } = data;
  const given = [...Object.values(githubHandlers), "onEvent" as const].filter((name) => data[name] !== undefined);
  const facts = present({
    ...(given.length > 0 && { handlers: given }),
    botName,
    envPrefix,
    webhookEvents,
    deliverReplies,
    progress,
  });
  return { facts, problems: webhookEvents === undefined ? [] : unheard(webhookEvents, data) };
}

/** Handlers of events that `webhookEvents` leaves out. */
function unheard(events: readonly string[], data: Readonly<Record<string, unknown>>): readonly Problem[] {
  return Object.entries(githubHandlers).flatMap(([event, name]): Problem[] =>
    data[name] === undefined || events.includes(event)
      ? []
      : [
          {
            code: "badDefinition",
            path: name,
            message: `${name} is never called: webhookEvents leaves ${event} out`,
            help: `add "${event}" to webhookEvents, or leave webhookEvents out: then all that have a handler are heard`,
          },
        ],
  );
}

const verify = z.custom<unknown>(
  (value) => (Array.isArray(value) ? value.length > 0 && value.every(isVerify) : isVerify(value)),
  "expected stripeSignature(…), standardSignature(…), hmacSignature(…), timestampedSignature(…) or bearerToken(…)",
);

function isVerify(value: unknown): boolean {
  return isObject(value) && ["hmac", "timestamped", "bearer"].includes(String(value.scheme));
}

const webhook = z.strictObject({
  description: z.optional(z.string()),
  verify,
  map: callable,
  id: handler,
  lane: handler,
  events: z.optional(z.unknown()),
});

/** Options of a generic webhook. */
export function describeWebhook(value: unknown): Described {
  const { problems } = check(webhook, value ?? {});
  return { problems };
}
