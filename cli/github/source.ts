/** What is replayed: a payload from a file, stdin or a URL, or the one that GitHub would send of a thing that is there. */
import { readFile } from "node:fs/promises";
import { prefixed } from "../../runtime/manifest/packs.js";
import { reach } from "../client/agent-client.js";
import { failure, usageFailure } from "../exit.js";
import { readStdin } from "../input.js";
import { eventOf } from "./event-name.js";

type Json = Readonly<Record<string, unknown>>;

export interface Webhook {
  readonly event: string;
  readonly payload: Json;
}

export interface SourceOptions {
  readonly event: string | undefined;
  readonly prefix: string | undefined;
}

/** A pull request or issue on GitHub, or a comment on one. */
interface Place {
  readonly owner: string;
  readonly repo: string;
  readonly kind: "pull" | "issues" | "either";
  readonly number: number;
  readonly comment?: Comment;
}

interface Comment {
  /** As the address names it. */
  readonly of: "issuecomment-" | "discussion_r" | "pullrequestreview-";
  readonly id: number;
}

/**
 * Reads `payload.json`, `-`, `https://…/payload.json`, `owner/repo#42`, or the address of a pull request, an issue or a
 * comment.
 *
 * @throws CommandFailure BDK8012 when there is nothing to read, or it is no payload.
 */
export async function readWebhook(source: string, { event, prefix }: SourceOptions): Promise<Webhook> {
  const place = placeOf(source);
  if (place !== undefined) return renamed(await fetchPlace(place, source, prefix), event);
  const payload = parsePayload(await readText(source), source);
  const name = event ?? eventOf(payload);
  if (name !== undefined) return { event: name, payload };
  throw usageFailure("badInput", {
    message: `${source} does not tell which event it is of`,
    help: "name it, as in --event release: it is the X-GitHub-Event header of the delivery",
  });
}

function renamed(webhook: Webhook, event: string | undefined): Webhook {
  return event === undefined ? webhook : { ...webhook, event };
}

function placeOf(source: string): Place | undefined {
  const short = /^([\w.-]+)\/([\w.-]+)#([1-9]\d*)$/.exec(source);
  const long =
    /^https?:\/\/[^/]+\/([\w.-]+)\/([\w.-]+)\/(pull|issues)\/([1-9]\d*)(?:\/[^#?]*)?(?:\?[^#]*)?(?:#(issuecomment-|discussion_r|pullrequestreview-)(\d+)|#.*)?$/.exec(
      source,
    );
  if (short !== null) {
    const [, owner = "", repo = "", number] = short;
    return { owner, repo, kind: "either", number: Number(number) };
  }
  if (long === null) return undefined;
  const [, owner = "", repo = "", kind, number, of, comment] = long;
  const place = {
    owner,
    repo,
    kind: kind === "pull" ? ("pull" as const) : ("issues" as const),
    number: Number(number),
  };
  return of === undefined ? place : { ...place, comment: { of: of as Comment["of"], id: Number(comment) } };
}

async function readText(source: string): Promise<string> {
  if (source === "-") return readStdin();
  if (/^https?:\/\//.test(source)) {
    const response = await reach(source);
    if (response.ok) return response.text();
    throw failure("badInput", { message: `${source} answered ${response.status}` });
  }
  try {
    return await readFile(source, "utf8");
  } catch (error) {
    throw usageFailure("badInput", {
      message: `cannot read ${source}: ${error instanceof Error ? error.message : String(error)}`,
      help: "bdk github replay takes a file, - for stdin, a URL, or owner/repo#42",
    });
  }
}

function parsePayload(text: string, source: string): Json {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Json;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw usageFailure("badInput", {
    message: `${source} is not the JSON object of a webhook`,
    help: "a repository's Settings → Webhooks → Recent deliveries shows payloads to copy",
  });
}

/** There is no such pull request: the number may be an issue's. */
function unlessMissing(error: unknown): undefined {
  if ((error as { readonly status?: unknown }).status === 404) return undefined;
  throw error;
}

/** What GitHub would have sent when it was opened, or commented on, as it is now. */
async function fetchPlace({ owner, repo, kind, number, comment }: Place, source: string, prefix: string | undefined) {
  const { clientFor } = await import("../../runtime/channels/github/client.js");
  try {
    const octokit = await clientFor({
      environment: process.env,
      prefix,
      repository: `${owner}/${repo}`,
      log: () => undefined,
    });
    const at = { owner, repo };
    const repository = (await octokit.rest.repos.get(at)).data as unknown as Json;
    const { pulls, issues } = octokit.rest;
    if (comment?.of === "issuecomment-") {
      const said = (await issues.getComment({ ...at, comment_id: comment.id })).data;
      const issue = (await issues.get({ ...at, issue_number: number })).data;
      const what = { action: "created", issue, comment: said };
      return { event: "issue_comment", payload: { ...what, repository, sender: said.user } };
    }
    const pull = kind === "issues" ? undefined : await pulls.get({ ...at, pull_number: number }).catch(unlessMissing);
    if (pull === undefined) {
      const issue = (await issues.get({ ...at, issue_number: number })).data;
      return { event: "issues", payload: { action: "opened", issue, repository, sender: issue.user } };
    }
    const pull_request = pull.data;
    if (comment?.of === "discussion_r") {
      const said = (await pulls.getReviewComment({ ...at, comment_id: comment.id })).data;
      const what = { action: "created", pull_request, comment: said };
      return { event: "pull_request_review_comment", payload: { ...what, repository, sender: said.user } };
    }
    if (comment?.of === "pullrequestreview-") {
      const review = (await pulls.getReview({ ...at, pull_number: number, review_id: comment.id })).data;
      // Webhooks write it small.
      const told = { ...review, state: review.state.toLowerCase() };
      const what = { action: "submitted", pull_request, review: told };
      return { event: "pull_request_review", payload: { ...what, repository, sender: review.user } };
    }
    const what = { action: "opened", number, pull_request };
    return { event: "pull_request", payload: { ...what, repository, sender: pull_request.user } };
  } catch (error) {
    throw failure("badInput", {
      message: `cannot fetch ${source}: ${error instanceof Error ? error.message : String(error)}`,
      help: `it is read with ${prefixed(prefix, "GITHUB_TOKEN")}, or an app's credentials`,
    });
  }
}
