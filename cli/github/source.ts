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
  readonly kind: "pull" | "issues";
  readonly number: number;
  readonly comment?: number;
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
    /^https?:\/\/[^/]+\/([\w.-]+)\/([\w.-]+)\/(pull|issues)\/([1-9]\d*)(?:\/[^#?]*)?(?:\?[^#]*)?(?:#issuecomment-(\d+)|#.*)?$/.exec(
      source,
    );
  if (short !== null) {
    const [, owner = "", repo = "", number] = short;
    return { owner, repo, kind: "pull", number: Number(number) };
  }
  if (long === null) return undefined;
  const [, owner = "", repo = "", kind, number, comment] = long;
  const place = {
    owner,
    repo,
    kind: kind === "pull" ? ("pull" as const) : ("issues" as const),
    number: Number(number),
  };
  return comment === undefined ? place : { ...place, comment: Number(comment) };
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
    if (comment !== undefined) {
      const said = (await octokit.rest.issues.getComment({ ...at, comment_id: comment })).data;
      const issue = (await octokit.rest.issues.get({ ...at, issue_number: number })).data;
      return {
        event: "issue_comment",
        payload: { action: "created", issue, comment: said, repository, sender: said.user },
      };
    }
    if (kind === "issues") {
      const issue = (await octokit.rest.issues.get({ ...at, issue_number: number })).data;
      return { event: "issues", payload: { action: "opened", issue, repository, sender: issue.user } };
    }
    const pull = (await octokit.rest.pulls.get({ ...at, pull_number: number })).data;
    return {
      event: "pull_request",
      payload: { action: "opened", number, pull_request: pull, repository, sender: pull.user },
    };
  } catch (error) {
    throw failure("badInput", {
      message: `cannot fetch ${source}: ${error instanceof Error ? error.message : String(error)}`,
      help: `it is read with ${prefixed(prefix, "GITHUB_TOKEN")}, or an app's credentials`,
    });
  }
}
