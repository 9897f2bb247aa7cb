import { hasErrors } from "../../compiler/diagnostics/diagnostic.js";
import { type ConnectionSpec, fillFrom, readSpecs } from "../../runtime/connections/spec.js";
import { loadOrRefuse } from "../../runtime/host/load-failure.js";
import { loadBundle } from "../api/agent-bundle.js";
import { compileProject } from "../compile-project.js";
import { CommandFailure, exit, failure, usageFailure } from "../exit.js";
import type { Terminal } from "../ui/terminal.js";

/** A connection of a project, as its definition says. */
export interface FoundConnection {
  readonly slug: string;
  readonly spec: ConnectionSpec;
}

export interface Wanted {
  readonly root: string;
  readonly slug: string | undefined;
  readonly json: boolean;
}

/** Every connection of the project's agents. The project's code runs, as it does when it is served. */
export async function findConnections(wanted: Wanted, terminal: Terminal): Promise<readonly FoundConnection[]> {
  const { root, slug, json } = wanted;
  const result = await compileProject(root, { environment: "build", until: "project" }, terminal, json);
  const { bundle, diagnostics } = result;
  if (bundle === undefined || hasErrors(diagnostics)) throw new CommandFailure(exit.failed, diagnostics, root);
  const { manifest, definitions, files } = await loadOrRefuse(() => loadBundle(bundle, root), bundle.manifest);
  const agents = manifest.agents.filter((agent) => slug === undefined || agent.slug === slug);
  if (agents.length === 0) {
    throw usageFailure("chooseAgent", {
      message: `there is no agent "${slug}" in ${root}`,
      help: `there is ${manifest.agents.map((agent) => agent.slug).join(", ")}`,
    });
  }
  return agents.flatMap((agent) => {
    const of = {
      agent,
      definitions: definitions[agent.slug] ?? {},
      manifestHash: manifest.hash,
      files: files[agent.slug] ?? {},
    };
    return readSpecs(of).map((spec) => ({ slug: agent.slug, spec }));
  });
}

/** A connection that can be logged in to. */
export interface LoginTarget {
  readonly slug: string;
  readonly name: string;
  /** `${NAME}` filled in. */
  readonly url: string;
  /** What a plugin's `auth` says, filled in. */
  readonly settings: Readonly<Record<string, string>>;
}

/** @throws CommandFailure when there is no such connection, several of it, or none that takes a login. */
export async function findLoginTarget(name: string, wanted: Wanted, terminal: Terminal): Promise<LoginTarget> {
  const all = await findConnections(wanted, terminal);
  const named = all.filter(({ spec }) => spec.name === name);
  const [found, second] = named;
  if (found === undefined) {
    const names = [...new Set(all.filter(takesLogin).map(({ spec }) => spec.name))];
    throw usageFailure("badArgument", {
      message: `there is no connection "${name}"`,
      help: names.length === 0 ? "no connection of this project has oauth: true" : `there is ${names.join(", ")}`,
    });
  }
  if (second !== undefined) {
    const sameAgent = second.slug === found.slug;
    throw usageFailure("chooseAgent", {
      message: `several connections are called "${name}"`,
      help: sameAgent
        ? "a login is kept by name: rename the one in mcp-connections/ or the one in host-connections/"
        : `choose an agent with --slug: ${named.map(({ slug }) => slug).join(", ")}`,
    });
  }
  const { slug, spec } = found;
  const { way } = spec;
  if (way.is !== "http" || !way.oauth) {
    throw usageFailure("badArgument", {
      message: `the connection "${name}" takes no login`,
      help: way.is === "http" ? "give its definition oauth: true" : "only servers with a url have logins",
    });
  }
  const filled = fillFrom(process.env);
  const url = filled.text(way.url);
  const settings = filled.record(way.settings);
  try {
    filled.check();
  } catch (error) {
    throw failure("badInput", { message: `connection "${name}": ${error instanceof Error ? error.message : error}` });
  }
  return { slug, name, url, settings };
}

/** Whether a connection is one of those that `bdk mcp oauth` is for. */
export function takesLogin({ spec: { way } }: FoundConnection): boolean {
  return way.is === "http" && way.oauth;
}
