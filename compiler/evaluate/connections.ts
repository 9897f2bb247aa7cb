/** What of connections can be told only once they are read: variables that are unset, peers that are not there. */
import { readFileSync } from "node:fs";
import path from "node:path";
import type { Definition } from "../analyze/definition.js";
import { type Diagnostic, diagnostic, type Label } from "../diagnostics/diagnostic.js";
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
 * @param root absolute folder that the connections' files are relative to
 * @param slugs of the agents that are built together
 * @param env the environment, where it is the one that counts
 */
export function checkConnections(
  connections: readonly ReadConnection[],
  root: string,
  slugs: readonly string[],
  env: Readonly<Record<string, string>> | undefined,
): readonly Diagnostic[] {
  return connections.flatMap((each) => [
    ...checkPeer(each, slugs),
    ...(env === undefined ? [] : checkVariables(each, root, env)),
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

function checkVariables({ definition, facts }: ReadConnection, root: string, env: Readonly<Record<string, string>>) {
  const names = Array.isArray(facts.variables) ? (facts.variables as readonly string[]) : [];
  const unset = names.filter((name) => env[name] === undefined || env[name] === "");
  if (unset.length === 0) return [];
  const mentions = mentionsOf(unset, definition.entry.file, root);
  const field = facts.transport === "stdio" ? "env" : "headers";
  return [
    diagnostic("variableUnset", {
      message: `${nameOf(definition)} needs ${unset.join(", ")}, which ${unset.length === 1 ? "is" : "are"} not set`,
      at: mentions.length > 0 ? mentions : spanOfField(definition, field),
      help: "set it where the bot runs; it is read each time the connection opens",
    }),
  ];
}

/** Where a file first names each variable as `${NAME}`; those that are put together elsewhere have no place in it. */
function mentionsOf(names: readonly string[], file: string, root: string): readonly Label[] {
  const text = readFileSync(path.join(root, file), "utf8");
  const places = names
    .map((name) => ({ name, offset: text.indexOf(`\${${name}}`) }))
    .filter(({ offset }) => offset >= 0)
    .sort((a, b) => a.offset - b.offset);
  return places.map(({ name, offset }, index) => {
    const lines = text.slice(0, offset).split("\n");
    const column = (lines.at(-1) ?? "").length + 1;
    const endColumn = column + name.length + "${}".length;
    const span = { file, line: lines.length, column, endLine: lines.length, endColumn };
    return index === 0 ? { span, primary: true } : { span, text: "and here" };
  });
}
