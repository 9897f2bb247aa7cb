/** The GitHub pack: the optional part of the runtime behind `githubChannel` and `ctx.host.github`. */

import {
  formatGitHubPrContinuationKey,
  type GitHubChannelOptions,
  type GitHubContext,
  type GitHubDispatch,
} from "../../authoring/channels/github.js";
import type { ReceiveOptions, SendOptions } from "../../authoring/channels.js";
import type { HostServices } from "../../authoring/host.js";
import { RuntimeError } from "../../errors.js";
import { messageOf as causeOf } from "../../tools/result.js";
import type { ChannelRequest } from "../contract.js";
import type { InboxDelivery, PackAnswer, PackHost, ServedPack } from "../packs.js";
import { headerOf, turnAway } from "../sender.js";
import { type Client, clientFor } from "./client.js";
import { conversationOf, type Target } from "./conversation.js";
import { contextRepository, handlerOf, isHandled, isOwn } from "./events.js";
import { messageOf, titleOf } from "./message.js";
import { bodyText, type GitHubPayload, readPayload } from "./payload.js";
import { createDoor } from "./signature.js";
import { createTurns } from "./turns.js";

export { openClient } from "./client.js";

/** GitHub's own limit of a payload. */
const bodyLimit = 25 * 1024 * 1024;

/** Payloads that are not read again; more of them wait as text. */
const mostFresh = 50;

/** What the inbox holds of a webhook. */
interface Kept {
  readonly event: string;
  readonly body: string;
  /** Nothing is said on GitHub, write tools are stubbed, and a task isn't run: for `bdk github replay --dry-run`. */
  readonly isDryRun?: boolean;
}

/** What became of a delivery. */
type Outcome =
  | { readonly sessionId: string }
  | { readonly ignored: string }
  | { readonly task: "started" | "not run" }
  | { readonly failed: true };

export function openPack(host: PackHost): ServedPack {
  const { id, environment, log } = host;
  const options = (host.definition.options ?? {}) as GitHubChannelOptions;
  const prefix = options.envPrefix;
  const clientOf = ({ owner, repo, installation }: Target): Promise<Client> =>
    clientFor({ environment, prefix, installation, repository: `${owner}/${repo}`, log });
  const turns = createTurns(host, options, clientOf);

  /** Senders that wait to hear what became of a delivery (`Prefer: wait`), as `bdk github replay` does. */
  const waiting = new Map<string, (outcome: Outcome) => void>();
  /** Payloads that were read when they came and are about to be handled. */
  const fresh = new Map<string, GitHubPayload>();
  const admit = createDoor(host, prefix);

  function isWanted(event: string): boolean {
    return options.webhookEvents?.includes(event) ?? isHandled(event, options);
  }

  async function take(request: ChannelRequest): Promise<PackAnswer> {
    const text = await admit(request);
    if (text === undefined) return turnAway(request, id);
    const header = (name: string) => headerOf(request, name);
    const [event, deliveryId] = [header("x-github-event"), header("x-github-delivery")];
    if (!event || !deliveryId) {
      throw new RuntimeError("invalid_request", "X-GitHub-Event and X-GitHub-Delivery are required");
    }
    const body = bodyText(header("content-type"), text);
    const payload = readPayload(body);
    if (payload === undefined) throw new RuntimeError("invalid_request", "the payload is not a JSON object");
    const ignored = (reason: string) => ({ status: 200, body: { ok: true, event, ignored: reason } });
    if (event === "ping") return { status: 200, body: { ok: true, event } };
    if (!isWanted(event) || !isHandled(event, options)) return ignored("no handler for this event");
    if (isOwn(payload, options.botName)) return ignored("the bot's own comment");
    const { key } = conversationOf(event, payload);
    const isDryRun = header("bdk-dry-run") === "true";
    const kept: Kept = { event, body, ...(isDryRun && { isDryRun }) };
    // Of two that send the same at once, the first is the one who hears.
    const isAwaited = header("prefer")?.trim() === "wait" && !waiting.has(deliveryId);
    const outcome = isAwaited && new Promise<Outcome>((resolve) => waiting.set(deliveryId, resolve));
    const lane = isDryRun ? undefined : key;
    let isNew = false;
    if (fresh.size < mostFresh && !fresh.has(deliveryId)) fresh.set(deliveryId, payload);
    try {
      isNew = await host.accept(deliveryId, { ...kept }, lane);
    } finally {
      if (!isNew && isAwaited) waiting.delete(deliveryId);
      if (!isNew && fresh.get(deliveryId) === payload) fresh.delete(deliveryId);
    }
    if (!isNew) return ignored("delivered before");
    if (outcome === false) return { status: 202, body: { ok: true, event, deliveryId } };
    const known = await outcome;
    const isFailed = "failed" in known;
    return {
      status: isFailed ? 500 : "task" in known ? 202 : 200,
      body: { ok: !isFailed, event, deliveryId, ...known },
    };
  }

  async function deliver(delivery: InboxDelivery): Promise<void> {
    const tell = waiting.get(delivery.id);
    waiting.delete(delivery.id);
    try {
      const outcome = await handle(delivery);
      tell?.(outcome);
    } catch (error) {
      tell?.({ failed: true });
      throw error;
    }
  }

  async function handle(delivery: InboxDelivery): Promise<Outcome> {
    const { event, body, isDryRun = false } = delivery.payload as unknown as Kept;
    const payload = fresh.get(delivery.id) ?? readPayload(body);
    fresh.delete(delivery.id);
    const handler = payload && handlerOf(event, payload, options);
    if (payload === undefined || handler === undefined) return { ignored: "no handler for this event" };
    const dispatch: unknown = await handler(contextOf(event, delivery.id, payload));
    if (dispatch === null || dispatch === undefined) return { ignored: "the handler returned null" };
    if (!isDispatch(dispatch)) {
      throw new TypeError(`the handler for ${event} must return { auth }, { task } or null`);
    }
    if (dispatch.task === undefined) return { sessionId: await begin(event, delivery, payload, dispatch, isDryRun) };
    if (isDryRun) return { task: "not run" };
    await runTask(event, delivery, dispatch.task);
    return { task: "started" };
  }

  /** At most once: nobody can tell what half of it has done. */
  async function runTask(event: string, delivery: InboxDelivery, task: () => Promise<unknown>): Promise<void> {
    if (delivery.hasBegun) {
      log("warn", `channel "${id}": the task for ${event} ${delivery.id} was cut off and is not run again`);
      return;
    }
    await delivery.begin();
    host.waitUntil(
      Promise.resolve()
        .then(task)
        .catch((error: unknown) => log("error", `channel "${id}": the task for ${event} failed: ${causeOf(error)}`)),
    );
  }

  async function begin(
    event: string,
    delivery: InboxDelivery,
    payload: GitHubPayload,
    dispatch: Extract<GitHubDispatch, { readonly task?: never }>,
    isDryRun: boolean,
  ): Promise<string> {
    const { auth, context = [], title, message, admission, workspaceFiles, workspaceDir } = dispatch;
    const { key: usual, target } = conversationOf(event, payload);
    // A dry run has a session of its own: GitHub hears nothing of it.
    const key = isDryRun ? undefined : (dispatch.continuationToken ?? usual);
    if (key !== undefined && target !== undefined) await turns.expect(key, target);
    const interrupts = event === "push" || event === "pull_request";
    const lead = context.length > 0 ? [...context, ""] : [];
    const session = await host.send(auth, [...lead, message ?? messageOf(event, payload)].join("\n"), {
      continuationToken: key,
      title: title ?? titleOf(event, payload),
      admission: admission ?? (interrupts ? "preempt" : "coalesce"),
      workspaceFiles,
      workspaceDir,
      idempotencyKey: delivery.id,
      ...(isDryRun && { dryRun: true }),
    });
    return session.id;
  }

  function contextOf(event: string, deliveryId: string, payload: GitHubPayload): GitHubContext {
    const { sender, installation } = payload;
    const repository = contextRepository(payload);
    const { owner, name: repo } = repository;
    return {
      event,
      deliveryId,
      repository,
      ...(sender !== undefined && { sender: { login: sender.login, isBot: sender.type === "Bot" } }),
      host: withGithub(host.services, (at) =>
        clientFor({
          environment,
          prefix,
          installation: at === undefined ? installation?.id : undefined,
          repository: at ?? (repo === "" ? undefined : `${owner}/${repo}`),
          log,
        }),
      ),
    };
  }

  return {
    ingress: { path: "/", description: "GitHub's webhooks", take },
    bodyLimit,
    events: turns.events,
    deliver,
    route: ({ target }) => routeTo(target),
  };
}

/** The conversation that a `receive` means: `{ repository: "owner/name", number }`, or `owner` and `repo` apart. */
function routeTo(target: ReceiveOptions["target"]): SendOptions {
  const { owner, repo, repository, number } = target ?? {};
  const [of, name] = typeof repository === "string" ? repository.split("/") : [owner, repo];
  if (typeof of === "string" && typeof name === "string" && of !== "" && name !== "" && Number.isInteger(number)) {
    return { continuationToken: formatGitHubPrContinuationKey({ owner: of, repo: name, number: Number(number) }) };
  }
  throw new RuntimeError("invalid_request", 'a target on GitHub is { repository: "owner/name", number }');
}

function isDispatch(value: unknown): value is GitHubDispatch {
  if (typeof value !== "object" || value === null) return false;
  if ("task" in value && value.task !== undefined) return typeof value.task === "function";
  return "auth" in value && typeof value.auth === "object" && value.auth !== null;
}

/** The services, with GitHub as who sent the event sees it. */
function withGithub(services: HostServices, open: (repository?: string) => Promise<Client>): HostServices {
  const github: HostServices["github"] = {
    getOctokit: async <C>(at?: { readonly repository?: string }) => (await open(at?.repository)) as C,
  };
  return Object.create(services, { github: { value: github, enumerable: true } }) as HostServices;
}
