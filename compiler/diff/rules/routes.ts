import type { ChannelEntry } from "../../../runtime/manifest/schema.js";
import type { Finding } from "../change.js";
import { join } from "../json.js";
import { compareFields, type FieldRules, pairByKey, type Scene } from "../rule.js";
import { lacksAuth } from "./auth.js";
import { schema } from "./schema.js";
import { text } from "./text.js";

type Route = ChannelEntry["routes"][number];

const fields: FieldRules<Route> = {
  description: text("description"),
  bodySchema: schema("input"),
  querySchema: schema("input"),
};

/** Routes of a channel, keyed by method and path. */
export function routes(
  before: readonly Route[],
  after: readonly Route[],
  { after: channel, path, tolerate }: Scene<ChannelEntry>,
): Finding[] {
  return pairByKey(before, after, nameOf).flatMap((pair): Finding[] => {
    const at = join(path, pair.key);
    if (pair.after === undefined) {
      return [
        { path: at, kind: "removed", level: "breaking", message: `route ${pair.key} removed`, before: pair.before },
      ];
    }
    if (pair.before === undefined) {
      const open = lacksAuth(channel);
      const message = `route ${pair.key} added${open ? " without auth" : ""}`;
      return [{ path: at, kind: "added", level: open ? "risky" : "compatible", message, after: pair.after }];
    }
    return compareFields(pair.before, pair.after, fields, { path: at, tolerate }).map((finding) => ({
      ...finding,
      message: `route ${pair.key}: ${finding.message}`,
    }));
  });
}

function nameOf(route: Route): string {
  return `${route.method} ${route.path}`;
}
