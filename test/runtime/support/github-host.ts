/** A host whose channel `github` is carried out by the GitHub pack against a fake GitHub. */
import { createHmac } from "node:crypto";
import { afterEach, vi } from "vitest";
import { type GitHubChannelOptions, githubChannel } from "../../../runtime/authoring/channels/github.js";
import type { HostOptions } from "../../../runtime/host/options.js";
import { type AgentParts, makeBundle } from "./bundle.js";
import { type FakeGitHub, startFakeGitHub } from "./fake-github.js";
import { startHost, type TestHost } from "./host.js";

export const webhookSecret = "It's a Secret to Everybody";

export interface GitHubHost extends TestHost {
  readonly github: FakeGitHub;
  /** Where GitHub delivers. */
  readonly at: string;
}

afterEach(() => {
  vi.unstubAllEnvs();
});

/** The manifest's row and the definition of a GitHub channel. */
export function githubParts(options: GitHubChannelOptions, parts: AgentParts = {}): AgentParts {
  const channel = {
    id: "channel:github",
    source: "bot/channels/github.ts:1",
    layer: "project" as const,
    name: "github",
    pack: "github",
    routes: [],
    events: Object.keys(options.events ?? {}).sort(),
  };
  return {
    ...parts,
    manifest: { ...parts.manifest, channels: [channel] },
    definitions: { ...parts.definitions, "channel:github": githubChannel(options) },
  };
}

export async function startGitHubHost(
  options: GitHubChannelOptions = {},
  parts: AgentParts = {},
  host: HostOptions & { readonly github?: FakeGitHub; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<GitHubHost> {
  const { github = await startFakeGitHub(), env = {}, ...hostOptions } = host;
  const usual = { GITHUB_API_URL: github.url, GITHUB_TOKEN: "ghp_test", GITHUB_WEBHOOK_SECRET: webhookSecret };
  for (const [name, value] of Object.entries({ ...usual, ...env })) vi.stubEnv(name, value);
  const started = await startHost(makeBundle([githubParts(options, parts)]), { dev: true, ...hostOptions });
  return Object.assign(started, { github, at: `${started.base}/v1/channels/github` });
}

export function signatureOf(body: string | Uint8Array, secret = webhookSecret): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}

let deliveries = 0;

export interface Sent {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Delivers a webhook as GitHub does. */
export async function deliver(
  at: string,
  event: string,
  payload: unknown,
  options: { readonly id?: string; readonly headers?: Readonly<Record<string, string>>; readonly secret?: string } = {},
): Promise<Sent> {
  deliveries += 1;
  const body = typeof payload === "string" ? payload : JSON.stringify(payload);
  const response = await fetch(at, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-github-event": event,
      "x-github-delivery": options.id ?? `delivery-${deliveries}`,
      "x-hub-signature-256": signatureOf(body, options.secret),
      ...options.headers,
    },
    body,
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>) };
}

const repository = { id: 1, name: "checkout", full_name: "acme/checkout", owner: { login: "acme" } };
const sender = { login: "mona", type: "User" };
export const headSha = "0123456789abcdef0123456789abcdef01234567";

const pull = {
  number: 42,
  html_url: "https://github.com/acme/checkout/pull/42",
  title: "Add a cart",
  body: "It holds things.",
  draft: false,
  merged: false,
  user: sender,
  head: { sha: headSha, ref: "cart" },
  base: { ref: "main" },
};

/** Small payloads, each with the fields that GitHub documents. */
export const payloads = {
  opened: { action: "opened", number: 42, pull_request: pull, repository, sender },
  synchronized: { action: "synchronize", number: 42, pull_request: pull, repository, sender },
  comment: (body: string, from = sender, id = 7) => ({
    action: "created",
    issue: {
      number: 42,
      html_url: pull.html_url,
      title: pull.title,
      user: sender,
      pull_request: { url: pull.html_url },
    },
    comment: { id, body, html_url: `${pull.html_url}#issuecomment-${id}`, user: from },
    repository,
    sender: from,
  }),
  reviewComment: (body: string, more: Readonly<Record<string, unknown>> = {}) => ({
    action: "created",
    pull_request: pull,
    comment: { id: 9, body, html_url: `${pull.html_url}#r9`, user: sender, commit_id: headSha, ...more },
    repository,
    sender,
  }),
  push: { ref: "refs/heads/main", before: "0".repeat(40), after: headSha, commits: [], repository, sender },
} as const;
