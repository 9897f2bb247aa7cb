import { type Diagnostic, diagnostic } from "../diagnostics/diagnostic.js";
import { type Contributor, labelOf, type Slot, slots } from "../slots.js";
import { joinPath, type ProjectSource, parentOf } from "../source.js";
import { type Found, gather, nothing } from "./found.js";
import { checkName } from "./names.js";
import { checkLink } from "./place.js";
import { collect } from "./shapes.js";
import type { Layer, PackageRef } from "./tree.js";
import { checkUnclaimed } from "./unclaimed.js";

/** A folder laid out by the slot table: `bot/`, a subagent, the overlays of a mount, an extension package. */
export interface LayerRoot {
  /** The folder, relative to the source root. */
  readonly dir: string;
  readonly scope: Slot["scope"];
  readonly contributor: Contributor;
  readonly layer: Layer;
  readonly mount?: string;
  readonly package?: PackageRef;
  readonly subagent?: string;
  /** Names in the folder that belong to whoever scans it (`extension.ts` of a mount). */
  readonly claimed?: readonly string[];
}

/** Finds every entry below the folder, slot by slot, and says what the slots leave over. */
export function scanLayer(source: ProjectSource, root: LayerRoot): Found {
  const rows = slots.filter((slot) => slot.scope === root.scope);
  const found = rows.map((slot) => {
    const each = collect({ source, root, slot });
    return slot.contributors.includes(root.contributor) ? withNameChecks(each, slot) : refuse(each, slot, root);
  });
  return gather([
    ...found,
    { diagnostics: checkLinks(source, root, rows) },
    { diagnostics: checkUnclaimed(source, root, rows) },
    { diagnostics: checkSandbox(source, root) },
  ]);
}

/** A slot whose folder is a link to nowhere or to somewhere else: nothing of it is read, and it would not be missed. */
function checkLinks(source: ProjectSource, root: LayerRoot, rows: readonly Slot[]): readonly Diagnostic[] {
  const folders = rows
    .filter(
      ({ shape, contributors }) => !["file", "private"].includes(shape) && contributors.includes(root.contributor),
    )
    .flatMap(({ path }) => path.split("/").map((_, index, parts) => parts.slice(0, index + 1).join("/")));
  const parents = [...new Set(folders.map(parentOf))];
  return parents.flatMap((parent) =>
    source.list(joinPath(root.dir, parent)).flatMap((child) => {
      const folder = joinPath(parent, child.name);
      return (folders.includes(folder) ? checkLink(child, joinPath(root.dir, folder)) : undefined) ?? [];
    }),
  );
}

/** An extension brings seed files, but no sandbox of its own. Source: `extensions.md`, Extension contents. */
function checkSandbox(source: ProjectSource, root: LayerRoot): readonly Diagnostic[] {
  if (root.contributor !== "extension") return [];
  const inside = source.list(joinPath(root.dir, "sandbox")).filter(({ name }) => name !== "workspace");
  const code = ["sandbox.ts", "sandbox.js"].map((name) => joinPath(root.dir, name)).filter(source.exists);
  return [...code, ...inside.map(({ name }) => joinPath(root.dir, "sandbox", name))].map((file) =>
    diagnostic("extensionPathIgnored", {
      message: `${file} is ignored: an extension can't bring a sandbox, only files for sandbox/workspace/`,
      at: { file, line: 1, column: 1 },
      help: "move it to the project itself",
    }),
  );
}

function withNameChecks(found: Found, slot: Slot): Found {
  const named = found.entries.filter((entry) => entry.kind === slot.kind);
  const diagnostics = named.flatMap((entry) => checkName(entry.name, slot, { file: entry.file, line: 1, column: 1 }));
  return { ...found, diagnostics: [...found.diagnostics, ...diagnostics] };
}

/** A slot that this contributor has no say in: one warning for the folder, nothing of it is loaded. */
function refuse(found: Found, slot: Slot, root: LayerRoot): Found {
  const first = found.entries[0];
  if (first === undefined) return nothing;
  const place = slot.shape === "file" ? first.file : joinPath(root.dir, labelOf(slot));
  const at = { file: first.file, line: 1, column: 1 };
  const report: Diagnostic =
    root.contributor === "subagent"
      ? diagnostic("subagentCapability", {
          message: `${place} is ignored: a subagent brings agent.ts and instructions, nothing else`,
          at,
          help: "move it to the root agent; subagents see its tools",
        })
      : diagnostic("extensionPathIgnored", {
          message: `${place} is ignored: an extension can't bring ${labelOf(slot)}`,
          at,
          help: "move it to the project itself",
        });
  return { ...nothing, diagnostics: [report] };
}
