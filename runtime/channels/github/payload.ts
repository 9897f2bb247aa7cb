/** What the pack reads of a webhook's payload. GitHub has sent it and signed it; anything may be missing all the same. */
import * as z from "zod/mini";

const text = z.catch(z.string(), "");
const maybeText = z.catch(z.optional(z.string()), undefined);
const account = z.catch(z.optional(z.object({ login: z.string(), type: maybeText })), undefined);
const number = z.number();
const flag = z.catch(z.boolean(), false);

/** A part that is left out when it isn't what it should be. */
function part<T extends z.ZodMiniType>(shape: T) {
  return z.catch(z.optional(shape), undefined);
}

const pullRequest = z.object({
  number,
  html_url: text,
  title: text,
  body: text,
  draft: flag,
  merged: flag,
  user: account,
  head: z.catch(z.object({ sha: text, ref: text }), { sha: "", ref: "" }),
  base: z.catch(z.object({ ref: text }), { ref: "" }),
});

const issue = z.object({
  number,
  html_url: text,
  title: text,
  body: text,
  user: account,
  pull_request: part(z.looseObject({})),
});

const comment = z.object({
  id: number,
  body: text,
  html_url: text,
  user: account,
  commit_id: maybeText,
  in_reply_to_id: z.catch(z.optional(number), undefined),
});

/** Of `check_run`, `check_suite`, `workflow_run`: the pull requests and the commit that are checked. */
const check = z.object({
  name: maybeText,
  status: maybeText,
  conclusion: maybeText,
  html_url: maybeText,
  head_sha: maybeText,
  pull_requests: z.catch(
    z.array(z.object({ number, base: part(z.object({ repo: part(z.object({ id: number })) })) })),
    [],
  ),
});

const payload = z.object({
  action: maybeText,
  repository: part(z.object({ id: z.catch(number, 0), name: z.string(), owner: z.object({ login: z.string() }) })),
  organization: account,
  installation: part(z.object({ id: number, account })),
  sender: account,
  pull_request: part(pullRequest),
  issue: part(issue),
  comment: part(comment),
  review: part(z.object({ id: number, body: text, html_url: text, user: account, state: maybeText })),
  check_run: part(check),
  check_suite: part(check),
  workflow_run: part(check),
  sha: maybeText,
  ref: maybeText,
  after: maybeText,
  compare: maybeText,
  deleted: flag,
  commits: z.catch(z.array(z.object({ id: text, message: text, author: part(z.object({ name: maybeText })) })), []),
});

/** A payload, read. `raw` is all of it. */
export type GitHubPayload = z.infer<typeof payload> & { readonly raw: Readonly<Record<string, unknown>> };

/** `undefined` for what is no JSON object, and for one with a key that would reach into prototypes when it is copied. */
export function readPayload(body: string): GitHubPayload | undefined {
  if (body.includes('"__proto__"')) return undefined;
  let raw: unknown;
  try {
    raw = JSON.parse(body);
  } catch {
    return undefined; // the caller refuses it
  }
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) return undefined;
  const parsed = payload.safeParse(raw);
  return parsed.success ? { ...parsed.data, raw: raw as Readonly<Record<string, unknown>> } : undefined;
}

/** The bytes of a request as text: JSON, or the `payload` field of a form, as the webhook's content type has it. */
export function bodyText(contentType: string | undefined, body: string): string {
  if (contentType?.toLowerCase().startsWith("application/x-www-form-urlencoded") !== true) return body;
  return new URLSearchParams(body).get("payload") ?? "";
}
