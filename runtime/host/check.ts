import type { AgentBundle } from "../manifest/bundle.js";
import type { AgentManifest, ExtensionEntry, ScheduleEntry } from "../manifest/schema.js";
import { everFires, parseCron } from "../schedules/cron.js";
import { checkEnvironment, StartupError } from "./environment.js";
import { problemOfFront } from "./front.js";
import type { HostOptions } from "./options.js";
import { type RefusedSetting, readRefusal, SettingsError } from "./refused-settings.js";
import { checkWebhooks } from "./webhook-secrets.js";

/**
 * Everything that can be known before listening: variables, options that contradict each other, and code that the
 * manifest names and the bundle lacks.
 *
 * @throws StartupError
 */
export function checkBundle(bundle: AgentBundle, options: HostOptions): void {
  checkEnvironment(bundle.manifest, process.env);
  const { agents } = bundle.manifest;
  if (agents.length === 0) throw new StartupError("the bundle has no agent");
  if (options.authToken !== undefined && options.allowAnonymous === true) {
    throw new StartupError("--bearer-token and --allow-anonymous exclude each other");
  }
  const { port = 0, mode = "multi" } = options;
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new StartupError(`the port is a whole number from 0 to 65535, not ${JSON.stringify(port)}`);
  }
  if (mode !== "multi" && mode !== "single") {
    throw new StartupError(`the mode is "multi" or "single", not ${JSON.stringify(mode)}`);
  }
  const problem = problemOfFront(options);
  if (problem !== undefined) throw new StartupError(problem);
  if (options.mode === "single" && agents.length > 1) {
    const slugs = agents.map((agent) => agent.slug).join(", ");
    throw new StartupError(`--mode single serves one agent, and there are ${agents.length}: ${slugs}`);
  }
  const refused = agents.flatMap(({ slug, extensions }) =>
    extensions.flatMap((mount) => refusedSettings(mount, bundle.definitions[slug]?.[mount.id])),
  );
  if (refused.length > 0) throw new SettingsError(refused);
  for (const agent of agents) {
    const { slug, tools, hooks } = agent;
    const definitions = bundle.definitions[slug] ?? {};
    checkPeers(agent, definitions, agents);
    checkWebhooks(agent, definitions, options.host, process.env);
    for (const schedule of agent.schedules) checkTimes(schedule, definitions[schedule.id]);
    const lost = [...tools, ...hooks].map((entry) => entry.id).filter((id) => definitions[id] === undefined);
    if (lost.length > 0) throw new StartupError(`the bundle of agent "${slug}" has no code for ${lost.join(", ")}`);
  }
}

/** An agent that a connection names has to be served by the same process: nobody else could be asked. */
function checkPeers(
  { slug, mcpConnections, hostConnections }: AgentManifest,
  definitions: Readonly<Record<string, unknown>>,
  agents: readonly AgentManifest[],
): void {
  const mounted = agents.map((each) => each.slug);
  for (const { id, name, source } of [...mcpConnections, ...hostConnections]) {
    const definition = definitions[id];
    const peer =
      typeof definition === "object" && definition !== null && "agent" in definition ? definition.agent : undefined;
    if (typeof peer !== "string" || mounted.includes(peer)) continue;
    throw new StartupError(
      `the connection "${name}" of agent "${slug}" (${source}) leads to the agent "${peer}", which is not mounted here; there are: ${mounted.join(", ")}`,
    );
  }
}

/** An expression that the environment gives was not there to be checked when the bundle was built. */
function checkTimes({ name, source, cron: given }: ScheduleEntry, definition: unknown): void {
  if (typeof given === "string") return;
  const cron = typeof definition === "object" && definition !== null && "cron" in definition ? definition.cron : "";
  const parsed = parseCron(typeof cron === "string" ? cron : "");
  if (parsed.ok && everFires(parsed.cron)) return;
  const reason = parsed.ok ? "names a date that never comes" : `can't be parsed: ${parsed.reason}`;
  throw new StartupError(
    `the cron expression of the schedule "${name}" (${source}), which the environment gives, ${reason}`,
  );
}

/** An extension that is mounted as it is gives its settings when they are first read: that must not be within a turn. */
function refusedSettings(mount: ExtensionEntry, definition: unknown): readonly RefusedSetting[] {
  if (typeof definition !== "function") return [];
  try {
    Reflect.get(definition, "config");
    return [];
  } catch (error) {
    const refused = error instanceof Error ? readRefusal(error, mount, process.env) : [];
    if (refused.length > 0) return refused;
    const { namespace, package: from } = mount;
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartupError(
      `the extension "${namespace}"${from === undefined ? "" : ` (${from})`} can't be mounted: ${reason}`,
    );
  }
}
