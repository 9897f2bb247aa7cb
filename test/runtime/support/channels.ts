/** Hosts with channels made in memory. */
import { allowAll, type ChannelConfig, defineChannel } from "../../../runtime/authoring/channels.js";
import type { HostOptions } from "../../../runtime/host/options.js";
import type { AgentBundle } from "../../../runtime/manifest/bundle.js";
import { makeBundle } from "./bundle.js";
import { startHost, type TestHost } from "./host.js";

/** A bundle of one agent with these channels. */
export function bundleOf(channels: Readonly<Record<string, ChannelConfig>>, hash = "sha256:one"): AgentBundle {
  const entries = Object.entries(channels);
  return makeBundle(
    [
      {
        definitions: Object.fromEntries(entries.map(([name, config]) => [`channel:${name}`, defineChannel(config)])),
        manifest: {
          channels: entries.map(([name, { routes, events }]) => ({
            id: `channel:${name}`,
            source: `bot/channels/${name}.ts:1`,
            layer: "project",
            name,
            routes: routes.map(({ method, path }) => ({ method, path })),
            events: Object.keys(events ?? {}),
          })),
        },
      },
    ],
    { hash },
  );
}

/** Serves one channel, `drive`; `at` is its URL. */
export async function serve(
  config: ChannelConfig,
  options: HostOptions = {},
): Promise<TestHost & { readonly at: string }> {
  const host = await startHost(bundleOf({ drive: config }), options);
  return Object.assign(host, { at: `${host.base}/v1/channels/drive` });
}

/** Auth of a channel that anybody may call. */
export const open = { auth: [allowAll()] };
