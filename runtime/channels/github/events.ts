/** From a payload to the project's own handlers: which one is called, and with what. */
import type {
  GitHubChannelOptions,
  GitHubComment,
  GitHubContext,
  GitHubDispatch,
  GitHubHandler,
  GitHubRepository,
} from "../../authoring/channels/github.js";
import { githubHandlers } from "../../manifest/packs.js";
import { repositoryOf } from "./conversation.js";
import type { GitHubPayload } from "./payload.js";

/** A handler that waits for its context. */
export type BoundHandler = (ctx: GitHubContext) => GitHubDispatch | null | Promise<GitHubDispatch | null>;

/** Ends what the pack writes itself, so that it never answers itself, whatever its name is. */
export const ownMark = "<!-- bdk:";

/** Whether some handler is for this event. */
export function isHandled(event: string, of: GitHubChannelOptions): boolean {
  return (
    (Object.hasOwn(githubHandlers, event) && of[githubHandlers[event as keyof typeof githubHandlers]] !== undefined) ||
    of.onEvent !== undefined
  );
}

/** The handler of an event with what it is told; `undefined` when there is none. */
export function handlerOf(event: string, payload: GitHubPayload, of: GitHubChannelOptions): BoundHandler | undefined {
  const { pull_request: pull, issue, comment, review, raw } = payload;
  const action = payload.action ?? "";
  const other = bind(of.onEvent, { ...(payload.action !== undefined && { action }), raw });
  switch (event) {
    case "pull_request":
      if (pull === undefined) return other;
      return (
        bind(of.onPullRequest, {
          action,
          number: pull.number,
          url: pull.html_url,
          title: pull.title,
          draft: pull.draft,
          merged: pull.merged,
          ...authorOf(pull.user),
          headSha: pull.head.sha,
          headRef: pull.head.ref,
          baseRef: pull.base.ref,
          raw,
        }) ?? other
      );
    case "issue_comment":
      if (issue === undefined || comment === undefined) return other;
      return (
        bind(of.onIssueComment, commentOf(action, comment, issue, issue.pull_request !== undefined, raw, of)) ?? other
      );
    case "pull_request_review_comment":
      if (pull === undefined || comment === undefined) return other;
      return bind(of.onReviewComment, commentOf(action, comment, pull, true, raw, of)) ?? other;
    case "pull_request_review":
      if (pull === undefined || review === undefined) return other;
      return bind(of.onReview, commentOf(action, review, pull, true, raw, of)) ?? other;
    case "issues":
      if (issue === undefined) return other;
      return (
        bind(of.onIssue, {
          action,
          number: issue.number,
          title: issue.title,
          body: issue.body,
          url: issue.html_url,
          ...authorOf(issue.user),
          raw,
        }) ?? other
      );
    case "check_run":
    case "check_suite":
    case "push":
      return bind(of[githubHandlers[event]], { ...(payload.action !== undefined && { action }), raw }) ?? other;
    default:
      return other;
  }
}

function bind<Payload>(handler: GitHubHandler<Payload> | undefined, payload: Payload): BoundHandler | undefined {
  return handler === undefined ? undefined : (ctx) => handler(ctx, payload);
}

function commentOf(
  action: string,
  { id, body, html_url, user, state }: NonNullable<GitHubPayload["comment"]> & { readonly state?: string | undefined },
  { number }: { readonly number: number },
  isPullRequest: boolean,
  raw: GitHubPayload["raw"],
  { botName }: GitHubChannelOptions,
): GitHubComment {
  return {
    action,
    id,
    body,
    url: html_url,
    number,
    ...authorOf(user),
    isPullRequest,
    mentionsBot: botName !== undefined && mentions(body, botName),
    ...(state !== undefined && { state }),
    raw,
  };
}

function authorOf(user: { readonly login: string } | undefined): { readonly author?: string } {
  return user === undefined ? {} : { author: user.login };
}

/** `@name`, and not the beginning of a longer one or the end of an address. */
function mentions(body: string, name: string): boolean {
  const plain = name.replace(/\[bot\]$/, "").replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?<![\\w@/-])@${plain}(?:\\[bot\\])?(?![\\w-])`, "i").test(body);
}

/** Whether the bot said this itself: by its name, or by the mark that the pack's own comments end in. */
export function isOwn(payload: GitHubPayload, botName: string | undefined): boolean {
  const said = payload.comment ?? payload.review;
  if (said === undefined) return false;
  const plain = (login: string | undefined) => login?.replace(/\[bot\]$/, "").toLowerCase();
  if (botName !== undefined && plain(payload.sender?.login) === plain(botName)) return true;
  return said.body.trimEnd().split("\n").at(-1)?.startsWith(ownMark) === true;
}

/** The repository of an event; for one of an organization or an app, the account. */
export function contextRepository(payload: GitHubPayload): GitHubRepository {
  const at = repositoryOf(payload);
  if (at !== undefined) return { owner: at.owner, name: at.repo, fullName: `${at.owner}/${at.repo}` };
  const account = (payload.organization ?? payload.installation?.account ?? payload.sender)?.login ?? "";
  return { owner: account, name: "", fullName: account };
}
