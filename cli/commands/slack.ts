import { hasErrors } from "../../compiler/diagnostics/diagnostic.js";
import { prefixed } from "../../runtime/manifest/packs.js";
import type { AgentManifest, ChannelEntry } from "../../runtime/manifest/schema.js";
import { compileProject } from "../compile-project.js";
import { CommandFailure, exit, usageFailure } from "../exit.js";
import type { Run } from "../index.js";
import { projectFolder } from "../project.js";
import { createAppManifest, type Transport } from "../slack/app-manifest.js";
import { writeDiagnostics } from "../ui/diagnostics.js";
import { writeJson } from "../ui/terminal.js";

/** A Slack channel and the agent it belongs to. */
interface Found {
  readonly agent: AgentManifest;
  readonly channel: ChannelEntry;
}

export const run: Run<"slack"> = async ({ args, options }, terminal) => {
  const [action = ""] = args;
  if (action !== "manifest") {
    throw usageFailure("badArgument", {
      message: `there is no command "slack ${action}"`,
      help: "there is bdk slack manifest",
    });
  }
  const root = projectFolder(options.dir);
  const settings = { environment: "build", until: "manifest" } as const;
  const { manifest, diagnostics } = await compileProject(root, settings, terminal, true);
  if (manifest === undefined || hasErrors(diagnostics)) throw new CommandFailure(exit.failed, diagnostics, root);
  await writeDiagnostics(terminal.err, diagnostics, root);

  const { agent, channel } = choose(manifest.agents, options);
  const transport = readTransport(options["request-url"], channel);
  const app = createAppManifest(agent, channel, transport);
  if (options.json) await writeJson(terminal.out, app);
  else {
    const { stringify } = await import("yaml");
    await terminal.out.write(stringify(app));
  }
  await terminal.err.write(nextSteps(channel, transport));
  return exit.ok;
};

function choose(
  agents: readonly AgentManifest[],
  { slug, channel: name, prefix }: Readonly<Record<"slug" | "channel" | "prefix", string | undefined>>,
): Found {
  const all = agents.flatMap((agent) =>
    agent.channels.flatMap((channel): Found[] => (channel.pack === "slack" ? [{ agent, channel }] : [])),
  );
  const wanted = all.filter(
    ({ agent, channel }) =>
      (slug ?? agent.slug) === agent.slug &&
      (name ?? channel.name) === channel.name &&
      (prefix === undefined || channel.options?.envPrefix === prefix),
  );
  const [found, ...others] = wanted;
  if (found !== undefined && others.length === 0) return found;
  const listed = all.map(({ agent, channel }) => `--slug ${agent.slug} --channel ${channel.name}`).join(", ");
  throw usageFailure("badArgument", {
    message:
      found === undefined ? "there is no such Slack channel in the project" : "the project has several Slack channels",
    help: listed === "" ? "add one: bot/channels/slack.ts with slackChannel()" : `there is ${listed}`,
  });
}

/** An address that Slack can call, or none: then the app calls Slack. */
function readTransport(url: string | undefined, { name }: ChannelEntry): Transport {
  if (url === undefined) return { is: "socket" };
  if (!URL.canParse(url) || new URL(url).protocol !== "https:") {
    throw usageFailure("badArgument", {
      message: `--request-url ${url}: Slack calls https addresses only`,
      help: `such as https://bots.example.com/my-agent/v1/channels/${name}/events; leave it out for Socket Mode`,
    });
  }
  const { pathname } = new URL(url);
  const isWhole = pathname.endsWith("/events");
  return { is: "http", url: isWhole ? url : `${url.replace(/\/+$/, "")}/v1/channels/${name}/events` };
}

function nextSteps({ options }: ChannelEntry, transport: Transport): string {
  const prefix = typeof options?.envPrefix === "string" ? options.envPrefix : undefined;
  const second =
    transport.is === "socket"
      ? `${prefixed(prefix, "SLACK_APP_TOKEN")} (Basic Information → App-Level Tokens, scope connections:write)`
      : `${prefixed(prefix, "SLACK_SIGNING_SECRET")} (Basic Information → Signing Secret)`;
  return `
Create the app from this at https://api.slack.com/apps?new_app=1, install it, and set
  ${prefixed(prefix, "SLACK_BOT_TOKEN")} (OAuth & Permissions → Bot User OAuth Token)
  ${second}
`;
}
