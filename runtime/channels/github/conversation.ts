/** Where an event belongs: its conversation, and where answers to it go. */
import { formatGitHubPrContinuationKey } from "../../authoring/channels/github.js";
import type { GitHubPayload } from "./payload.js";

/** What a reaction is put on. */
export interface Subject {
  readonly on: "issue" | "issue-comment" | "review-comment" | "commit-comment";
  readonly id: number;
}

/** Where the answer to an event goes. */
export interface Target {
  readonly owner: string;
  readonly repo: string;
  /** Of the issue or pull request. */
  readonly number?: number;
  /** The commit that carries the status. */
  readonly sha?: string;
  readonly subject?: Subject;
  /** Review comment whose thread is answered in: its first, since GitHub takes no reply to a reply. */
  readonly replyTo?: number;
  /** Installation of the app that heard the event. */
  readonly installation?: number;
}

export interface Conversation {
  /** Absent where an event belongs to nothing that goes on: it gets a session of its own. */
  readonly key?: string;
  readonly target?: Target;
}

/** `owner/name` of a payload, when it is of a repository. */
export function repositoryOf({
  repository,
}: GitHubPayload): { readonly owner: string; readonly repo: string } | undefined {
  return repository === undefined ? undefined : { owner: repository.owner.login, repo: repository.name };
}

export function conversationOf(event: string, payload: GitHubPayload): Conversation {
  const at = repositoryOf(payload);
  if (at === undefined) return {};
  const base = { ...at, ...(payload.installation !== undefined && { installation: payload.installation.id }) };
  const { issue, comment } = payload;
  const pull = pullOf(payload);
  const sha = shaOf(payload);
  const commit = sha === undefined ? {} : { sha };
  const number = pull ?? issue?.number;
  if (number !== undefined) {
    const isPull = pull !== undefined || issue?.pull_request !== undefined;
    const subject = subjectOf(event, payload, number);
    const isReviewComment = event === "pull_request_review_comment" && comment !== undefined;
    return {
      key: isPull ? formatGitHubPrContinuationKey({ ...at, number }) : `issue:${at.owner}/${at.repo}#${number}`,
      target: {
        ...base,
        ...commit,
        number,
        ...(subject !== undefined && { subject }),
        ...(isReviewComment && { replyTo: comment.in_reply_to_id ?? comment.id }),
      },
    };
  }
  if (sha === undefined) return { target: base };
  const subject = event === "commit_comment" && comment && ({ on: "commit-comment", id: comment.id } as const);
  return { key: `commit:${at.owner}/${at.repo}@${sha}`, target: { ...base, sha, ...(subject && { subject }) } };
}

/** A pull request's number; of a check, that of its first pull request within the repository. */
function pullOf({ pull_request, check_run, check_suite, workflow_run, repository }: GitHubPayload): number | undefined {
  if (pull_request !== undefined) return pull_request.number;
  const checked = check_run ?? check_suite ?? workflow_run;
  return checked?.pull_requests.find(({ base }) => base?.repo === undefined || base.repo.id === repository?.id)?.number;
}

/** The commit that an event is about. */
function shaOf({ pull_request, check_run, check_suite, workflow_run, comment, sha, after, deleted }: GitHubPayload) {
  const found =
    pull_request?.head.sha ||
    (check_run ?? check_suite ?? workflow_run)?.head_sha ||
    comment?.commit_id ||
    sha ||
    (deleted ? undefined : after);
  // A push that deletes a branch has a commit of zeros.
  return found === undefined || found === "" || /^0+$/.test(found) ? undefined : found;
}

function subjectOf(event: string, { comment }: GitHubPayload, number: number): Subject | undefined {
  switch (event) {
    case "issue_comment":
      return comment && { on: "issue-comment", id: comment.id };
    case "pull_request_review_comment":
      return comment && { on: "review-comment", id: comment.id };
    case "pull_request":
    case "pull_request_target":
    case "issues":
      return { on: "issue", id: number };
    default:
      return undefined;
  }
}

/** Where answers go in a conversation that no event began, such as one that `receive` opened. */
export function targetOfKey(key: string): Target | undefined {
  const match = /^(?:pr|issue|commit):([^/#@\s]+)\/([^/#@\s]+)(?:#([1-9]\d*)|@([0-9a-f]{7,64}))$/.exec(key);
  if (match === null) return undefined;
  const [, owner = "", repo = "", number, sha] = match;
  return { owner, repo, ...(number !== undefined && { number: Number(number) }), ...(sha !== undefined && { sha }) };
}
