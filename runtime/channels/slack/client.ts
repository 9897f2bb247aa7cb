/** Slack's own Web API client, made from the variables of the process. */
import { type Logger, LogLevel, type RetryOptions, WebClient } from "@slack/web-api";
import { prefixed } from "../../manifest/packs.js";
import type { Log } from "../../session/ports.js";
import type { Environment } from "../packs.js";

/** The variables of one Slack app; an empty one counts as absent. */
export interface SlackCredentials {
  readonly botToken: string | undefined;
  readonly appToken: string | undefined;
  readonly signingSecret: string | undefined;
  /** Base of the Web API, with a slash at the end. */
  readonly apiUrl: string | undefined;
  /** A variable's full name, for messages. */
  nameOf(name: SlackVariable): string;
}

export type SlackVariable = "SLACK_BOT_TOKEN" | "SLACK_APP_TOKEN" | "SLACK_SIGNING_SECRET" | "SLACK_API_URL";

/** @param apiUrl Used where no variable names another. */
export function readCredentials(
  environment: Environment,
  prefix: string | undefined,
  apiUrl?: string,
): SlackCredentials {
  const nameOf = (name: SlackVariable) => prefixed(prefix, name);
  const read = (name: SlackVariable) => environment[nameOf(name)]?.trim() || undefined;
  return {
    botToken: read("SLACK_BOT_TOKEN"),
    appToken: read("SLACK_APP_TOKEN"),
    signingSecret: read("SLACK_SIGNING_SECRET"),
    // One proxy serves all apps of a host, whatever their prefix.
    apiUrl: read("SLACK_API_URL") ?? (environment.SLACK_API_URL?.trim() || apiUrl),
    nameOf,
  };
}

/** How long a call that Slack does not answer is tried again: about five minutes, since a turn's reply hangs on it. */
const patient: RetryOptions = { retries: 8, factor: 1.96, minTimeout: 1_000, randomize: true };

/**
 * A client for the bot token.
 *
 * @param isOneShot A call is made once, and whoever calls decides what to do about one that failed.
 * @throws when the variable is not set, naming it.
 */
export function createClient(credentials: SlackCredentials, log: Log, isOneShot = false): WebClient {
  const { botToken, apiUrl, nameOf } = credentials;
  if (botToken === undefined) {
    throw new Error(`${nameOf("SLACK_BOT_TOKEN")} is not set: Slack can't be called without the app's bot token`);
  }
  const retries = isOneShot ? { retryConfig: { retries: 0 }, rejectRateLimitedCalls: true } : { retryConfig: patient };
  return new WebClient(botToken, { logger: toLogger(log), timeout: 30_000, ...retries, ...withApiUrl(apiUrl) });
}

/** The option that sends calls elsewhere, with the slash that the client wants. */
export function withApiUrl(apiUrl: string | undefined): { readonly slackApiUrl?: string } {
  return apiUrl === undefined ? {} : { slackApiUrl: apiUrl.endsWith("/") ? apiUrl : `${apiUrl}/` };
}

/** What Slack's packages have to say, in the server's own log; what they tell of each call is left out. */
export function toLogger(log: Log): Logger {
  const say = (level: "info" | "warn" | "error") => (parts: readonly unknown[]) =>
    log(level, `slack: ${parts.map(String).join(" ")}`);
  const [warn, error] = [say("warn"), say("error")];
  return {
    debug: () => undefined,
    info: () => undefined,
    warn: (...parts: unknown[]) => warn(parts),
    error: (...parts: unknown[]) => error(parts),
    setLevel: () => undefined,
    getLevel: () => LogLevel.WARN,
    setName: () => undefined,
  };
}

/** Slack's own code of a failed call, such as `channel_not_found`; else the error's message. */
export function reasonOf(error: unknown): string {
  if (typeof error === "object" && error !== null && "data" in error) {
    const { data } = error as { readonly data?: { readonly error?: unknown; readonly needed?: unknown } };
    if (typeof data?.error === "string") {
      return typeof data.needed === "string" ? `${data.error} (needs the scope ${data.needed})` : data.error;
    }
  }
  return error instanceof Error ? error.message : String(error);
}
