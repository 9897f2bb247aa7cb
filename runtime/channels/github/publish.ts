/** Calls that tell GitHub something: tried again when it is GitHub's fault, and never twice said. */
import type { Log } from "../../session/ports.js";
import { messageOf } from "../../tools/result.js";
import type { Client } from "./client.js";
import type { Target } from "./conversation.js";
import { ownMark } from "./events.js";

/** Milliseconds before each further try. */
const pauses = [250, 1_000, 4_000, 16_000];
/** Longest wait that GitHub may ask for, where the context names no other. */
const longestPause = 60_000;
/** What GitHub wants waited where it names no time. */
const unnamedPause = 60_000;
/** GitHub's limit is 65,536 characters. */
const longestComment = 65_000;

export interface PublishContext {
  readonly octokit: Client;
  readonly target: Target;
  /** Aborts when the server shuts down. */
  readonly signal: AbortSignal;
  readonly log: Log;
  /** Longest wait that GitHub may ask for, in milliseconds; default a minute. */
  readonly patience?: number;
}

/** Does it, again when the network or GitHub fails or asks to wait. `isDone` is asked before each further try. */
export async function insist<T>(
  { signal, patience, log, target }: PublishContext,
  act: () => Promise<T>,
  isDone: () => Promise<T | undefined> = async () => undefined,
): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      const done = tries === 0 ? undefined : await isDone();
      return done ?? (await act());
    } catch (error) {
      const pause = pauseAfter(error, tries, patience);
      if (pause === undefined) throw error;
      if (pause > longestPause) {
        const seconds = Math.ceil(pause / 1_000);
        log(
          "warn",
          `GitHub ${target.owner}/${target.repo}: asks to wait ${seconds} s; what is to be said is said then`,
        );
      }
      if (!signal.aborted) await wait(pause, signal);
      // A server that shuts down meanwhile has not said it: the next one begins again with this event.
      if (signal.aborted) return new Promise(() => undefined);
    }
  }
}

function pauseAfter(error: unknown, tries: number, longest = longestPause): number | undefined {
  const usual = pauses[tries];
  if (usual === undefined) return undefined;
  const { status, response, message } = error as {
    status?: unknown;
    message?: unknown;
    response?: { headers?: Record<string, unknown> };
  };
  // Octokit says 500 also of a call that never arrived.
  if (typeof status !== "number" || status >= 500) return usual;
  const headers = response?.headers ?? {};
  const after = Number(headers["retry-after"] ?? Number.NaN) * 1000;
  const isUsedUp = headers["x-ratelimit-remaining"] === "0";
  const isLimit = Number.isFinite(after) || isUsedUp || /rate limit/i.test(String(message));
  if (status !== 429 && !(status === 403 && isLimit)) return undefined;
  const reset = Number(headers["x-ratelimit-reset"] ?? Number.NaN) * 1000 - Date.now();
  const asked = [after, isUsedUp ? reset : Number.NaN].find(Number.isFinite) ?? unnamedPause;
  return asked > longest ? undefined : Math.max(usual, asked);
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}

/** Runs a step that shows progress; that it fails holds up nothing. */
export async function attempt<T>(
  { log, target }: PublishContext,
  what: string,
  act: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await act();
  } catch (error) {
    log("warn", `GitHub ${target.owner}/${target.repo}: ${what} failed: ${messageOf(error)}`);
    return undefined;
  }
}

/** What a comment ends in, by which it is known again: `<!-- bdk:ses_…:12 -->`. */
export function markOf(name: string): string {
  return `${ownMark}${name} -->`;
}

export function markedText(text: string, mark: string): string {
  const cut =
    text.length > longestComment ? `${closed(whole(text.slice(0, longestComment)))}\n\n… (cut)` : closed(text);
  return `${cut}\n\n${mark}`;
}

/** Without half a character at the end. */
function whole(text: string): string {
  return text.replace(/[\uD800-\uDBFF]$/, "");
}

/** Code that is left open is closed: what follows would be shown as part of it, the mark too. */
function closed(text: string): string {
  let fence: string | undefined;
  for (const line of text.split("\n")) {
    const found = /^ {0,3}(`{3,}(?!.*`)|~{3,})(.*)$/.exec(line);
    const [, marks = "", rest = ""] = found ?? [];
    if (fence === undefined) fence = found === null ? undefined : marks;
    else if (marks.startsWith(fence) && rest.trim() === "") fence = undefined;
  }
  return fence === undefined ? text : `${text}\n${fence}`;
}

/** Posts a comment where the target says; gives its id. What answers a comment that is gone stands beside it. */
export async function postComment(context: PublishContext, body: string): Promise<number | undefined> {
  const { octokit, target } = context;
  const { owner, repo, number, replyTo, sha } = target;
  if (number !== undefined && replyTo !== undefined) {
    const at = { owner, repo, pull_number: number, comment_id: replyTo, body };
    try {
      return Number((await octokit.rest.pulls.createReplyForReviewComment(at)).data.id);
    } catch (error) {
      if ((error as { readonly status?: unknown }).status !== 404) throw error;
    }
  }
  if (number !== undefined) {
    return Number((await octokit.rest.issues.createComment({ owner, repo, issue_number: number, body })).data.id);
  }
  if (sha === undefined) return undefined;
  return (await octokit.rest.repos.createCommitComment({ owner, repo, commit_sha: sha, body })).data.id;
}

/** Id of the comment with this mark, among those written since. */
export async function findComment(
  { octokit, target }: PublishContext,
  mark: string,
  since: string,
): Promise<number | undefined> {
  const { owner, repo, number, replyTo, sha } = target;
  const page = { owner, repo, per_page: 100 };
  const pages =
    number === undefined
      ? sha !== undefined &&
        octokit.paginate.iterator(octokit.rest.repos.listCommentsForCommit, { ...page, commit_sha: sha })
      : replyTo === undefined
        ? octokit.paginate.iterator(octokit.rest.issues.listComments, { ...page, issue_number: number, since })
        : octokit.paginate.iterator(octokit.rest.pulls.listReviewComments, { ...page, pull_number: number, since });
  if (pages === false) return undefined;
  for await (const { data } of pages) {
    const found = data.find(({ body }) => body?.includes(mark) === true);
    if (found !== undefined) return Number(found.id);
  }
  return undefined;
}

type Reaction = "eyes" | "+1" | "confused";

/** Puts a reaction on what began the turn; gives its id. */
export async function react(context: PublishContext, content: Reaction): Promise<number | undefined> {
  const { octokit, target } = context;
  const { owner, repo, subject } = target;
  if (subject === undefined) return undefined;
  const { reactions } = octokit.rest;
  const at = { owner, repo, content };
  switch (subject.on) {
    case "issue":
      return (await reactions.createForIssue({ ...at, issue_number: subject.id })).data.id;
    case "issue-comment":
      return (await reactions.createForIssueComment({ ...at, comment_id: subject.id })).data.id;
    case "review-comment":
      return (await reactions.createForPullRequestReviewComment({ ...at, comment_id: subject.id })).data.id;
    case "commit-comment":
      return (await reactions.createForCommitComment({ ...at, comment_id: subject.id })).data.id;
  }
}

export async function unreact({ octokit, target }: PublishContext, reaction_id: number): Promise<void> {
  const { owner, repo, subject } = target;
  if (subject === undefined) return;
  const { reactions } = octokit.rest;
  const at = { owner, repo, reaction_id };
  switch (subject.on) {
    case "issue":
      await reactions.deleteForIssue({ ...at, issue_number: subject.id });
      return;
    case "issue-comment":
      await reactions.deleteForIssueComment({ ...at, comment_id: subject.id });
      return;
    case "review-comment":
      await reactions.deleteForPullRequestComment({ ...at, comment_id: subject.id });
      return;
    case "commit-comment":
      await reactions.deleteForCommitComment({ ...at, comment_id: subject.id });
      return;
  }
}
