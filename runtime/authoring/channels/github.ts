/** The GitHub pack: a channel that hears a repository's webhooks and answers there. */
import type { ChannelConfig, ChannelDefinition, SendOptions } from "../channels.js";
import type { HostServices, SessionAuth } from "../host.js";

/** A repository. For an event of an organization or of an app, its `name` is empty and `fullName` is the account. */
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
  /** `github` acts for the installation that sent the event, when the credentials are an app's. */
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

/** A comment on an issue, a pull request or a diff, or a review. */
export interface GitHubComment {
  readonly action: string;
  readonly id: number;
  /** Empty for a review without words. */
  readonly body: string;
  readonly url: string;
  /** Of the issue or pull request. */
  readonly number: number;
  readonly author?: string;
  readonly isPullRequest: boolean;
  /** Whether the text has `@botName`. */
  readonly mentionsBot: boolean;
  /** Of a review: `approved`, `changes_requested`, `commented`, `dismissed`. */
  readonly state?: string;
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

/** Starts a session, or goes on with that of the pull request; `task` runs host code in the background instead. */
export type GitHubDispatch =
  | {
      readonly auth: SessionAuth;
      /** Default: the repository, the number and the title. */
      readonly title?: string;
      /** Lines told to the model before the event. */
      readonly context?: readonly string[];
      /** Told instead of what the pack says of the event. */
      readonly message?: string;
      /** Key of the conversation; default `pr:owner/repo#n`, `issue:owner/repo#n` or `commit:owner/repo@sha`. */
      readonly continuationToken?: string;
      /** Default: a push or a pull request's event interrupts a running turn, anything else waits behind it. */
      readonly admission?: SendOptions["admission"];
      readonly workspaceFiles?: SendOptions["workspaceFiles"];
      readonly workspaceDir?: SendOptions["workspaceDir"];
      readonly task?: never;
    }
  | {
      /** Runs at most once for each delivery: after a crash it isn't run again. */
      readonly task: () => Promise<unknown>;
    };

/** Decides what becomes of an event; `null` ignores it. */
export type GitHubHandler<Payload> = (
  ctx: GitHubContext,
  payload: Payload,
) => GitHubDispatch | null | Promise<GitHubDispatch | null>;

/** Options of `githubChannel`. */
export interface GitHubChannelOptions {
  /** The bot's login, without `[bot]`: its own comments are ignored, and `mentionsBot` tells when it is spoken to. */
  readonly botName?: string | undefined;
  /** `TRIAGE` reads `TRIAGE_GITHUB_WEBHOOK_SECRET`, `TRIAGE_GITHUB_TOKEN` and so on; default no prefix. */
  readonly envPrefix?: string | undefined;
  /** Events to accept; default those that have a handler. */
  readonly webhookEvents?: readonly string[] | undefined;
  /** @deprecated Needs a private service; refused when served. */
  readonly cursorAccount?: { readonly repos: readonly string[] } | undefined;
  /** Posts the reply as a comment: where the comment was, else on the pull request, issue or commit. Default true. */
  readonly deliverReplies?: boolean | undefined;
  /** What is shown while a turn runs. Default: nothing. */
  readonly progress?:
    | {
        /** Eyes on the comment, pull request or issue, and how it ended. */
        readonly reactions?: boolean;
        /** A status on the head commit, for the merge box. */
        readonly commitStatus?: boolean;
        /** One comment on the pull request or issue that is kept up to date. */
        readonly banner?: boolean;
      }
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
