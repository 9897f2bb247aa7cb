/** What the model is told of an event. */
import { contextRepository } from "./events.js";
import type { GitHubPayload } from "./payload.js";

/** Most characters of a text that someone wrote on GitHub. */
const longestText = 20_000;
/** Most commits of a push that are named. */
const mostCommits = 20;

/** A few lines on what happened and where. What people wrote is set apart, so that it reads as theirs. */
export function messageOf(event: string, payload: GitHubPayload): string {
  const { pull_request: pull, issue, comment, review, sender } = payload;
  const check = payload.check_run ?? payload.check_suite ?? payload.workflow_run;
  const what = payload.action === undefined ? event : `${event} ${payload.action}`;
  const by = sender === undefined ? "" : ` by @${sender.login}`;
  const said = comment ?? review;
  return [
    `GitHub: ${what} in ${contextRepository(payload).fullName}${by}`,
    ...(pull === undefined ? [] : [`Pull request #${pull.number}: ${pull.title}`, pull.html_url]),
    ...(pull === undefined ? [] : [`Head ${pull.head.ref} at ${pull.head.sha}, base ${pull.base.ref}`]),
    ...(issue === undefined
      ? []
      : [`${issue.pull_request ? "Pull request" : "Issue"} #${issue.number}: ${issue.title}`]),
    ...(issue === undefined ? [] : [issue.html_url]),
    ...(review?.state === undefined ? [] : [`Review: ${review.state}`]),
    ...(said === undefined ? [] : [said.html_url]),
    ...(check === undefined ? [] : checkLines(check)),
    ...(event === "push" ? pushLines(payload) : []),
    ...quoted(said?.body ?? pull?.body ?? issue?.body ?? ""),
  ]
    .filter((line) => line !== "")
    .join("\n");
}

/** `acme/checkout#42 Update the README`. */
export function titleOf(event: string, payload: GitHubPayload): string {
  const of = payload.pull_request ?? payload.issue;
  const { fullName } = contextRepository(payload);
  return (of === undefined ? `${fullName} ${event}` : `${fullName}#${of.number} ${of.title}`).slice(0, 200);
}

function checkLines({ name, status, conclusion, html_url, head_sha }: NonNullable<GitHubPayload["check_run"]>) {
  const result = conclusion ?? status;
  return [
    ...(name === undefined ? [] : [`Check ${name}${result === undefined ? "" : `: ${result}`}`]),
    ...(head_sha === undefined ? [] : [`Commit ${head_sha}`]),
    html_url ?? "",
  ];
}

function pushLines({ ref, after, compare, commits, deleted }: GitHubPayload): readonly string[] {
  const named = commits
    .slice(-mostCommits)
    .map(({ id, message }) => `- ${id.slice(0, 12)} ${message.split("\n")[0] ?? ""}`);
  return [deleted ? `${ref ?? ""} was deleted` : `${ref ?? ""} is now ${after ?? ""}`, compare ?? "", ...named];
}

function quoted(body: string): readonly string[] {
  const text = body.trim();
  if (text === "") return [];
  const cut = text.length > longestText ? `${text.slice(0, longestText)}\n… (cut)` : text;
  return ["They wrote:", ...cut.split(/\r?\n/).map((line) => `> ${line}`)];
}
