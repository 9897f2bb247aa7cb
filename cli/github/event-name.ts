/** Members of a payload by which its event is known, the telling ones first. */
const signs: readonly (readonly [event: string, members: readonly string[]])[] = [
  ["ping", ["zen", "hook_id"]],
  ["pull_request_review_thread", ["pull_request", "thread"]],
  ["pull_request_review_comment", ["pull_request", "comment"]],
  ["pull_request_review", ["pull_request", "review"]],
  ["pull_request", ["pull_request", "number"]],
  ["issue_comment", ["issue", "comment"]],
  ["issues", ["issue"]],
  ["workflow_job", ["workflow_job"]],
  ["deployment_review", ["workflow_job_run", "environment"]],
  ["deployment_status", ["deployment_status"]],
  ["deployment", ["deployment"]],
  ["check_run", ["check_run"]],
  ["check_suite", ["check_suite"]],
  ["workflow_run", ["workflow_run"]],
  ["discussion_comment", ["discussion", "comment"]],
  ["discussion", ["discussion"]],
  ["commit_comment", ["comment"]],
  ["release", ["release"]],
  ["push", ["ref", "before", "after"]],
  ["create", ["ref", "ref_type", "master_branch"]],
  ["delete", ["ref", "ref_type"]],
  ["fork", ["forkee"]],
  ["gollum", ["pages"]],
  ["status", ["sha", "state", "context"]],
  ["merge_group", ["merge_group"]],
  ["repository_dispatch", ["client_payload"]],
];

/** The event that a payload is of, which GitHub says in a header; `undefined` when its members don't tell. */
export function eventOf(payload: Readonly<Record<string, unknown>>): string | undefined {
  return signs.find(([, members]) => members.every((member) => Object.hasOwn(payload, member)))?.[0];
}
