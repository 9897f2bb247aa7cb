/**
 * What is known of a channel pack without loading it: build and boot ask here. Decision 4: packs are descriptors, and
 * their code is a section of the runtime. What such a section exports is in `runtime/channels/packs.ts`.
 */
import type { SessionEventType } from "../session/event.js";

export interface PackFacts {
  /** Section that carries it out. */
  readonly section: "github" | "slack" | "webhook";
  /** Events of its sessions that the pack handles, besides those of the project's own `events`. */
  readonly events: readonly SessionEventType[];
  /**
   * Variable with the secret that its senders sign with, before `envPrefix`. Without it only loopback is admitted, and a
   * server that listens elsewhere refuses to start. Decision 39.
   */
  readonly secret?: string;
  /** Variable that makes the secret unneeded, since nothing comes in over HTTP. */
  readonly unlessSet?: string;
}

/** Every pack there is, by the name its descriptor carries. */
export const packFacts: Readonly<Record<string, PackFacts>> = {
  github: {
    section: "github",
    events: ["turn.started", "message.completed", "action.approval_requested", "turn.completed", "turn.failed"],
    secret: "GITHUB_WEBHOOK_SECRET",
  },
  slack: {
    section: "slack",
    events: [
      "turn.started",
      "reasoning.appended",
      "message.appended",
      "message.completed",
      "actions.requested",
      "action.result",
      "action.approval_requested",
      "action.approval_resolved",
      "turn.completed",
      "turn.failed",
      "session.waiting",
      "session.failed",
    ],
    secret: "SLACK_SIGNING_SECRET",
    unlessSet: "SLACK_APP_TOKEN",
  },
  webhook: { section: "webhook", events: [] },
};

/** Webhook event of GitHub → the option of `githubChannel` that handles it. */
export const githubHandlers = {
  pull_request: "onPullRequest",
  issue_comment: "onIssueComment",
  pull_request_review_comment: "onReviewComment",
  pull_request_review: "onReview",
  issues: "onIssue",
  check_run: "onCheckRun",
  check_suite: "onCheckSuite",
  push: "onPush",
} as const satisfies Readonly<Record<string, `on${string}`>>;

/** `TRIAGE` and `SLACK_BOT_TOKEN` make `TRIAGE_SLACK_BOT_TOKEN`. */
export function prefixed(prefix: string | undefined, name: string): string {
  return prefix === undefined || prefix === "" ? name : `${prefix.replace(/_$/, "")}_${name}`;
}
