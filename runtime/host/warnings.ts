import type { HarnessResolver } from "../harness/harness.js";
import type { AgentMount } from "../http/context.js";
import { prefixed } from "../manifest/packs.js";
import { isKnown } from "./generation.js";
import type { HostOptions } from "./options.js";

/** What the operator should know before the first request: each a sentence that says what to do. */
export function startupWarnings(host: {
  readonly options: HostOptions;
  /** The address listened on. */
  readonly address: string;
  readonly loopbackOnly: boolean;
  readonly agents: readonly AgentMount[];
  readonly harnesses: HarnessResolver;
}): readonly string[] {
  const { options, address } = host;
  const found: string[] = [];
  if (!host.loopbackOnly && options.authToken === undefined && options.allowAnonymous !== true) {
    found.push(
      `listening on ${address}, but only direct calls from this machine are admitted: nobody else will be let in; pass --bearer-token to admit callers`,
    );
  }
  if (options.trustProxy === true && options.authToken === undefined && options.allowAnonymous !== true) {
    found.push(
      "--trust-proxy, but only direct calls from this machine are admitted: nobody who comes through the proxy will be let in; pass --bearer-token to admit callers",
    );
  }
  if (options.allowAnonymous === true) {
    found.push("everyone who can reach this server may use it (--allow-anonymous), and sees every session");
  }
  for (const { slug, generation } of host.agents) {
    const { mcpConnections, hostConnections } = generation.agent;
    for (const { name, variables = [] } of [...mcpConnections, ...hostConnections]) {
      const unset = variables.filter((each) => (process.env[each] ?? "") === "");
      if (unset.length > 0)
        found.push(`the connection "${name}" of agent "${slug}" needs ${unset.join(", ")}, not set now`);
    }
  }
  found.push(...sharedSockets(host.agents));
  return options.modelWarnings === false ? found : [...found, ...modelWarnings(host)];
}

function modelWarnings(host: {
  readonly agents: readonly AgentMount[];
  readonly harnesses: HarnessResolver;
}): readonly string[] {
  const found: string[] = [];
  for (const { slug, generation } of host.agents) {
    const { model, subagents } = generation.agent;
    for (const { name, model: own } of subagents) {
      // One that runs on the agent's own model is told with it.
      if (!isKnown(own) || (isKnown(model) && own.id === model.id)) continue;
      const reason = host.harnesses.problem(own);
      if (reason !== undefined)
        found.push(`subagent "${name}" of agent "${slug}" can't answer with ${own.id}: ${reason}`);
    }
    if (!isKnown(model)) continue;
    const problem = host.harnesses.problem(model);
    if (problem !== undefined) found.push(`agent "${slug}" can't answer with ${model.id}: ${problem}`);
    else if (model.id === "offline" || model.id.startsWith("offline/")) {
      found.push(
        `agent "${slug}" runs on the built-in offline model: no network, no intelligence, for demos and tests; /tool_name {json} in a message calls that tool`,
      );
    }
  }
  return found;
}

/** Channels that connect to one Slack app: Slack hands each event to one of its connections. */
function sharedSockets(agents: readonly AgentMount[]): readonly string[] {
  const byToken = new Map<string, string[]>();
  for (const { slug, generation } of agents) {
    for (const { name, pack, options } of generation.agent.channels) {
      if (pack !== "slack") continue;
      const prefix = typeof options?.envPrefix === "string" ? options.envPrefix : undefined;
      const token = process.env[prefixed(prefix, "SLACK_APP_TOKEN")] ?? "";
      if (token !== "") byToken.set(token, [...(byToken.get(token) ?? []), `"${name}" of agent "${slug}"`]);
    }
  }
  return [...byToken.values()].flatMap((channels) =>
    channels.length < 2
      ? []
      : `the Slack channels ${channels.join(" and ")} connect to one app, and Slack tells each event to one of them only: give each an app of its own, with an envPrefix`,
  );
}
