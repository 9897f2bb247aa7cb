/** What of connections can be told only once they are read: variables that are unset, peers that are not there. */
import type { Definition } from "../analyze/definition.js";
import { type Diagnostic, diagnostic } from "../diagnostics/diagnostic.js";
import type { Facts } from "./protocol.js";
import { nameOf, spanOfField } from "./report.js";

/** A connection and what it says. */
export interface ReadConnection {
  readonly definition: Definition;
  readonly facts: Facts;
}

/**
 * Warnings, since both may be different where the bot runs: the environment, and which agents are served together.
 *
 * @param slugs of the agents that are built together
 * @param env the environment, where it is the one that counts
 */
export function checkConnections(
  connections: readonly ReadConnection[],
  slugs: readonly string[],
  env: Readonly<Record<string, string>> | undefined,
): readonly Diagnostic[] {
  return connections.flatMap((each) => [
    ...checkPeer(each, slugs),
    ...(env === undefined ? [] : checkVariables(each, env)),
  ]);
}

function checkPeer({ definition, facts: { transport, target } }: ReadConnection, slugs: readonly string[]) {
  if (transport !== "peer" || typeof target !== "string" || slugs.includes(target)) return [];
  return [
    diagnostic("peerNotMounted", {
      message: `${nameOf(definition)} leads to the agent "${target}", which is not built with this one`,
      at: spanOfField(definition, "agent"),
      help: `build or serve the folder that holds both; there ${slugs.length === 1 ? "is" : "are"} ${slugs.join(", ")}`,
    }),
  ];
}

function checkVariables({ definition, facts }: ReadConnection, env: Readonly<Record<string, string>>) {
  const names = Array.isArray(facts.variables) ? (facts.variables as readonly string[]) : [];
  const unset = names.filter((name) => env[name] === undefined || env[name] === "");
  if (unset.length === 0) return [];
  const field = facts.transport === "stdio" ? "env" : "headers";
  return [
    diagnostic("variableUnset", {
      message: `${nameOf(definition)} needs ${unset.join(", ")}, which ${unset.length === 1 ? "is" : "are"} not set`,
      at: spanOfField(definition, field),
      help: "set it where the bot runs; it is read each time the connection opens",
    }),
  ];
}
