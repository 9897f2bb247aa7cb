import { join } from "node:path";

type Definitions = Readonly<Record<string, unknown>>;

/** What stands in a plugin's server for the folder that it keeps its data in, until the state root is known. */
const marker = /bdk-plugin-data:([A-Za-z0-9_-]+)/g;

/**
 * The definitions of an agent with the data folders of plugins in place: `plugins/<namespace>` below the agent's own state
 * root (`${PLUGIN_DATA}`; the linker writes the marker, `compiler/link/templates/plugin-server.ts`).
 */
export function placePluginData(definitions: Definitions, stateRoot: string): Definitions {
  const place = (value: unknown): unknown => {
    if (typeof value === "string")
      return value.replace(marker, (_, namespace: string) => join(stateRoot, "plugins", namespace));
    if (Array.isArray(value)) return value.map(place);
    return isRecord(value) ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, place(each)])) : value;
  };
  const asking = Object.entries(definitions).filter(([, each]) => isRecord(each) && typeof each.dataDir === "string");
  return asking.length === 0
    ? definitions
    : { ...definitions, ...Object.fromEntries(asking.map(([id, each]) => [id, place(each)])) };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
