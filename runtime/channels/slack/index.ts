/** The Slack pack: the section of the runtime that carries `slackChannel(…)` out. */
import type { WebClient } from "@slack/web-api";
import type { SlackChannelOptions } from "../../authoring/channels/slack.js";
import type { Log } from "../../session/ports.js";
import type { ClientRequest, PackHost, ServedPack } from "../packs.js";
import { createApprovals } from "./approvals.js";
import { createClient, readCredentials, reasonOf, type SlackCredentials } from "./client.js";
import { createDispatcher } from "./dispatch.js";
import type { SlackIdentity } from "./event.js";
import { createIngress, createTakeIn } from "./ingress.js";
import { createOutbox } from "./outbox.js";
import { createReplies } from "./replies.js";
import { createReplyWriter } from "./reply.js";
import { runSocketMode } from "./socket.js";
import { createStatusLines } from "./status.js";
import { routeToSlack } from "./target.js";

/** Slack says that payloads are small, and that this may change; what is larger is nothing of its. */
const bodyLimit = 25 * 1024 * 1024;

/** Makes a client once, when it is first needed: without a token everything else still works. */
function lazily(create: () => WebClient): () => WebClient {
  let made: WebClient | undefined;
  return () => {
    made ??= create();
    return made;
  };
}

export function openPack(host: PackHost): ServedPack {
  const options = (host.definition.options ?? {}) as SlackChannelOptions;
  const credentials = readCredentials(host.environment, options.envPrefix, options.apiUrl);
  const client = lazily(() => createClient(credentials, host.log));
  const once = lazily(() => createClient(credentials, host.log, true));
  const outbox = createOutbox({
    client: once,
    kv: host.kv,
    log: host.log,
  });
  const status = createStatusLines(once, host.log);
  const approvals = createApprovals(host, client, outbox);
  const dispatcher = createDispatcher(host, options, client, approvals);
  let identity: SlackIdentity = {};
  const takeIn = createTakeIn(host, options, () => identity, dispatcher.laneOf);

  return {
    ingress: createIngress(host.id, credentials, takeIn),
    bodyLimit,
    events: createReplies(options, { writer: createReplyWriter(client, once, outbox, host.log), status, approvals }),
    deliver: dispatcher.deliver,
    route: (received) => routeToSlack(host.id, received),
    async onStart() {
      if (credentials.appToken !== undefined) {
        runSocketMode(host, credentials, takeIn).catch((error: unknown) =>
          host.log("error", `channel "${host.id}": Socket Mode ended: ${reasonOf(error)}`),
        );
      }
      identity = await introduce(host, credentials, client);
    },
  };
}

/** Who the app is. Not to know it is no failure: events carry most of it. */
async function introduce(
  { id, log }: PackHost,
  { botToken, nameOf }: SlackCredentials,
  client: () => WebClient,
): Promise<SlackIdentity> {
  if (botToken === undefined) {
    log("warn", `channel "${id}": ${nameOf("SLACK_BOT_TOKEN")} is not set: it hears Slack and can't answer`);
    return {};
  }
  try {
    const { user_id: userId, bot_id: botId } = await client().auth.test();
    return { userId, botId };
  } catch (error) {
    log("warn", `channel "${id}": Slack does not know this app's bot token: ${reasonOf(error)}`);
    return {};
  }
}

/** Clients by server and app: those that share a token share Slack's limits, and the wait for them. */
const clients = new WeakMap<Log, Map<string, WebClient>>();

/** A client for `ctx.host.slack.getClient()`. */
export function openClient({ environment, prefix, options, log }: ClientRequest): WebClient {
  const { apiUrl } = (options ?? {}) as SlackChannelOptions;
  const credentials = readCredentials(environment, prefix, apiUrl);
  const known = clients.get(log) ?? new Map<string, WebClient>();
  clients.set(log, known);
  const key = `${credentials.botToken} ${credentials.apiUrl}`;
  const client = known.get(key) ?? createClient(credentials, log);
  known.set(key, client);
  return client;
}
