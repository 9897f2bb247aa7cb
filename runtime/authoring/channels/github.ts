/** The GitHub pack: a channel that hears a repository's webhooks and answers there. */
import type { ChannelConfig, ChannelDefinition } from "../channels.js";
import type { HostServices, SessionAuth } from "../host.js";

/** A repository. */
export interface GitHubRepository {
  readonly owner: string;
  readonly name: string;
  /** `owner/name`. */
  readonly fullName: string;
}

/** What every GitHub handler is given first. */
export interface GitHubContext {
  /** Name of the event, such as `pull_request`. */
  readonly event: string;
  readonly deliveryId: string;
  readonly repository: GitHubRepository;
  readonly sender?: { readonly login: string; readonly isBot: boolean };
  readonly host: HostServices;
}

/** A pull request event. */
export interface GitHubPullRequest {
  readonly action: string;
  readonly number: number;
  readonly url: string;
  readonly title: string;
  readonly draft: boolean;
  readonly merged: boolean;
  readonly author?: string;
  readonly headSha: string;
  readonly headRef: string;
  readonly baseRef: string;
  /** The payload as GitHub sent it. */
  readonly raw: Readonly<Record<string, unknown>>;
}

/** A comment on an issue, a pull request or a diff. */
export interface GitHubComment {
  readonly action: string;
  readonly id: number;
  readonly body: string;
  readonly url: string;
  readonly number: number;
  readonly author?: string;
  readonly isPullRequest: boolean;
  readonly raw: Readonly<Record<string, unknown>>;
}

/** An issue event. */
export interface GitHubIssue {
  readonly action: string;
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly url: string;
  readonly author?: string;
  readonly raw: Readonly<Record<string, unknown>>;
}

/** Any other event: its action and the payload. */
export interface GitHubEvent {
  readonly action?: string;
  readonly raw: Readonly<Record<string, unknown>>;
}

/** Starts a session; `task` runs host code in the background instead. */
export type GitHubDispatch =
  | {
      readonly auth: SessionAuth;
      readonly title?: string;
      readonly context?: readonly string[];
      readonly task?: never;
    }
  | { readonly task: () => Promise<unknown> };

/** Decides what becomes of an event; `null` ignores it. */
export type GitHubHandler<Payload> = (
  ctx: GitHubContext,
  payload: Payload,
) => GitHubDispatch | null | Promise<GitHubDispatch | null>;

/** Options of `githubChannel`. */
export interface GitHubChannelOptions {
  /** The bot's login: its own comments are ignored, mentions of it are heard. */
  readonly botName?: string | undefined;
  /** Prefix of the environment names; default none. */
  readonly envPrefix?: string | undefined;
  /** Events to accept; default those that have a handler. */
  readonly webhookEvents?: readonly string[] | undefined;
  /** @deprecated Needs a private service; refused when served. */
  readonly cursorAccount?: { readonly repos: readonly string[] } | undefined;
  /** Posts the reply as a comment. Default true. */
  readonly deliverReplies?: boolean | undefined;
  readonly progress?:
    | { readonly reactions?: boolean; readonly commitStatus?: boolean; readonly banner?: boolean }
    | undefined;
  readonly onPullRequest?: GitHubHandler<GitHubPullRequest> | undefined;
  readonly onIssueComment?: GitHubHandler<GitHubComment> | undefined;
  readonly onReviewComment?: GitHubHandler<GitHubComment> | undefined;
  readonly onReview?: GitHubHandler<GitHubComment> | undefined;
  readonly onIssue?: GitHubHandler<GitHubIssue> | undefined;
  readonly onCheckRun?: GitHubHandler<GitHubEvent> | undefined;
  readonly onCheckSuite?: GitHubHandler<GitHubEvent> | undefined;
  readonly onPush?: GitHubHandler<GitHubEvent> | undefined;
  /** Every event without a handler of its own. */
  readonly onEvent?: GitHubHandler<GitHubEvent> | undefined;
  readonly events?: ChannelConfig["events"];
}

/** What `githubChannel` returns: a channel that the GitHub pack carries out. */
export type GitHubChannelDefinition = ChannelDefinition & {
  readonly pack: "github";
  readonly options: GitHubChannelOptions;
};

/**
 * A GitHub repository as a channel.
 *
 * @example
 * export default githubChannel({
 *   onPullRequest: (ctx, pr) => (pr.action === "opened" ? { auth: defaultGitHubAuth(ctx) } : null),
 * });
 */
export function githubChannel(options: GitHubChannelOptions = {}): GitHubChannelDefinition {
  return { __agentServe: "channel", pack: "github", routes: [], events: options.events, options };
}

/** The repository as the owner of its sessions; who caused the event is in the claims. */
export function defaultGitHubAuth(ctx: Pick<GitHubContext, "repository" | "sender">): SessionAuth {
  return {
    kind: "channel",
    id: `github:${ctx.repository.fullName}`,
    ...(ctx.sender === undefined ? {} : { claims: { sender: ctx.sender.login } }),
  };
}

/** A pull request as the key of its conversation. */
export interface GitHubPrKey {
  readonly owner: string;
  readonly repo: string;
  readonly number: number;
}

/** `pr:owner/repo#42`. */
export function formatGitHubPrContinuationKey(key: GitHubPrKey): string {
  return `pr:${key.owner}/${key.repo}#${key.number}`;
}

/**
 * Reads a conversation key of the GitHub channel.
 *
 * @example parseGitHubPrContinuationKey("pr:acme/checkout#42") // { owner: "acme", repo: "checkout", number: 42 }
 * @returns `undefined` when it isn't the key of a pull request.
 */
export function parseGitHubPrContinuationKey(key: string | undefined): GitHubPrKey | undefined {
  const match = /^pr:([^/#\s]+)\/([^/#\s]+)#([1-9]\d*)$/.exec(key ?? "");
  if (match === null) return undefined;
  const [, owner = "", repo = "", number = ""] = match;
  return { owner, repo, number: Number(number) };
}
