import type { JsonDocument } from "./document.js";
import type { PluginFormat, PluginIgnored } from "./plugin.js";
import type { PluginReader } from "./reader.js";

interface Unmounted {
  readonly what: string;
  /** Usual places. */
  readonly paths: readonly string[];
  /** Keys of the manifest that declare it elsewhere. */
  readonly keys: readonly string[];
}

/** What hosts have and bots don't. */
const unmounted: readonly Unmounted[] = [
  { what: "rules", paths: ["rules"], keys: ["rules"] },
  { what: "hooks", paths: ["hooks", "hooks.json"], keys: ["hooks"] },
  { what: "language servers", paths: [".lsp.json"], keys: ["lspServers"] },
  { what: "output styles", paths: ["output-styles"], keys: ["outputStyles"] },
  { what: "themes", paths: ["themes"], keys: ["themes"] },
  { what: "monitors", paths: ["monitors"], keys: ["monitors"] },
];

/** Lists what the folder has beyond what is mounted, and says so once. */
export function readIgnored(
  format: PluginFormat,
  manifest: JsonDocument | undefined,
  reader: PluginReader,
): readonly PluginIgnored[] {
  const rows: readonly Unmounted[] =
    format === "agent-plugins"
      ? [
          ...unmounted,
          { what: "commands", paths: ["commands"], keys: [] },
          { what: "agents", paths: ["agents"], keys: [] },
        ]
      : unmounted;
  const ignored = rows.flatMap(({ what, paths, keys }): PluginIgnored[] => {
    const there = paths.filter((path) => reader.typeOf(path) !== undefined);
    if (there.length > 0) return there.map((path) => ({ what, path: reader.inSource(path) }));
    const declares = manifest !== undefined && keys.some((key) => manifest.value[key] !== undefined);
    return declares ? [{ what, path: reader.inSource(manifest.file) }] : [];
  });
  const kinds = [...new Set(ignored.map((each) => each.what))];
  if (kinds.length > 0) {
    const [first] = ignored;
    reader.report("pluginNotMounted", {
      message: `not mounted: ${kinds.join(", ")}`,
      at: { file: first?.path ?? reader.path, line: 1, column: 1 },
      help: "a bot takes skills, commands, agents and MCP servers of a plugin; write hooks under bot/hooks",
    });
  }
  return ignored;
}
