/** Octokit with the credentials of the host: a token, or those of a GitHub App for one of its installations. */
import { createAppAuth } from "@octokit/auth-app";
import { Octokit as Core } from "@octokit/core";
import { paginateRest } from "@octokit/plugin-paginate-rest";
import { restEndpointMethods } from "@octokit/plugin-rest-endpoint-methods";
import { prefixed } from "../../manifest/packs.js";
import type { Log } from "../../session/ports.js";
import type { ClientRequest, Environment } from "../packs.js";
import { targetOfKey } from "./conversation.js";

export const Octokit = Core.plugin(restEndpointMethods, paginateRest);
export type Client = InstanceType<typeof Octokit>;

/** Which client is wanted. */
export interface ClientChoice {
  readonly environment: Environment;
  readonly prefix: string | undefined;
  readonly log: Log;
  /** Installation of the app, when it is known. */
  readonly installation?: number | undefined;
  /** `owner/name`, from which the installation is found. */
  readonly repository?: string | undefined;
}

/** Clients by what they were made from: an app's holds tokens that are good for an hour. */
const clients = new Map<string, Promise<Client>>();
/** Clients kept; a host with more installations than this makes some anew. */
const mostClients = 100;

/** Longest wait for an answer, in milliseconds. */
const timeoutMs = 30_000;

/** Variables that the pack reads, without a prefix. */
const names = {
  token: "GITHUB_TOKEN",
  appId: "GITHUB_APP_ID",
  privateKey: "GITHUB_APP_PRIVATE_KEY",
  installation: "GITHUB_APP_INSTALLATION_ID",
  url: "GITHUB_API_URL",
} as const;

/**
 * A client, kept for the next one who asks for the same.
 *
 * @throws naming the variables that are missing.
 */
export function clientFor(choice: ClientChoice): Promise<Client> {
  const { environment, prefix, repository } = choice;
  const read = (name: keyof typeof names) => environment[prefixed(prefix, names[name])] || undefined;
  const url = read("url") ?? (environment[names.url] || undefined);
  const [token, appId, key] = [read("token"), read("appId"), read("privateKey")];
  if (appId === undefined || key === undefined) {
    if (token === undefined) return Promise.reject(new Error(missing(prefix)));
    return kept(["token", token, url], () => Promise.resolve(new Octokit({ ...common(url, choice.log), auth: token })));
  }
  const given = choice.installation ?? Number(read("installation") ?? Number.NaN);
  const installation = Number.isInteger(given) ? given : undefined;
  const known = installation ?? (repository === undefined ? "" : `of ${repository}`);
  return kept(["app", appId, key, url, known], async () => {
    const base = common(url, choice.log);
    // Keys are often stored on one line.
    const app = { appId, privateKey: key.replaceAll("\\n", "\n") };
    const installationId =
      installation ??
      (await findInstallation(new Octokit({ ...base, authStrategy: createAppAuth, auth: app }), repository));
    return new Octokit({ ...base, authStrategy: createAppAuth, auth: { ...app, installationId } });
  });
}

/** What the section's `openClient` is. */
export function openClient({ environment, prefix, record, repository, log }: ClientRequest): Promise<Client> {
  const at = targetOfKey(record?.continuationKey ?? "");
  const own = at === undefined ? undefined : `${at.owner}/${at.repo}`;
  return clientFor({ environment, prefix, repository: repository ?? own, log });
}

function common(baseUrl: string | undefined, log: Log) {
  const say = (level: "debug" | "warn" | "error") => (message: string) => log(level, `GitHub client: ${message}`);
  return {
    ...(baseUrl !== undefined && { baseUrl: baseUrl.replace(/\/+$/, "") }),
    userAgent: "bdk",
    request: { fetch: fetchInTime },
    log: { debug: () => undefined, info: () => undefined, warn: say("warn"), error: say("error") },
  };
}

/** GitHub itself gives up after ten seconds; without a limit a line that is dead would hold up the replies behind it. */
function fetchInTime(url: string, init: RequestInit = {}): Promise<Response> {
  const limit = AbortSignal.timeout(timeoutMs);
  return fetch(url, { ...init, signal: init.signal ? AbortSignal.any([init.signal, limit]) : limit });
}

function kept(of: readonly unknown[], make: () => Promise<Client>): Promise<Client> {
  const key = JSON.stringify(of);
  const known = clients.get(key);
  if (known !== undefined) return known;
  const made = make();
  clients.set(key, made);
  made.catch(() => clients.delete(key));
  for (const oldest of clients.keys()) {
    if (clients.size <= mostClients) break;
    clients.delete(oldest);
  }
  return made;
}

/** The installation on a repository, or the app's only one. */
async function findInstallation(app: Client, repository: string | undefined): Promise<number> {
  const [owner, repo] = repository?.split("/") ?? [];
  if (owner !== undefined && repo !== undefined && repo !== "") {
    return (await app.rest.apps.getRepoInstallation({ owner, repo })).data.id;
  }
  const { data } = await app.rest.apps.listInstallations({ per_page: 2 });
  const [only] = data;
  if (only !== undefined && data.length === 1) return only.id;
  throw new Error(
    `the GitHub App has ${data.length === 0 ? "no installation" : "several installations"}: say which by getOctokit({ repository: "owner/name" }) or ${names.installation}`,
  );
}

function missing(prefix: string | undefined): string {
  const [token, appId, key] = [names.token, names.appId, names.privateKey].map((name) => prefixed(prefix, name));
  return `GitHub can't be reached without credentials: set ${token}, or ${appId} and ${key}`;
}
