import { type Diagnostic, diagnostic } from "../diagnostics/diagnostic.js";
import { suggest } from "../diagnostics/suggest.js";
import { labelOf, type Slot, slots } from "../slots.js";
import { joinPath, type ProjectSource, type SourceEntry } from "../source.js";
import { isSkipped } from "./files.js";
import type { LayerRoot } from "./layer.js";

/** Folders, and files named almost like a slot, that no row of the table stands for. */
export function checkUnclaimed(source: ProjectSource, root: LayerRoot, rows: readonly Slot[]): readonly Diagnostic[] {
  // The project's own root and the root of a package hold what they like.
  if (root.scope === "project" || root.layer === "extension") return [];
  const children = source.list(root.dir).filter((child) => !ignored(child, root));
  const top = children.flatMap((child) => checkChild(root, rows, child, ""));
  const nested = rows
    .filter((slot) => slot.path.includes("/"))
    .map((slot) => slot.path.slice(0, slot.path.indexOf("/")))
    .flatMap((parent) =>
      source
        .list(joinPath(root.dir, parent))
        .filter((child) => child.type === "folder" && !ignored(child, root))
        .flatMap((child) => checkChild(root, rows, child, `${parent}/`)),
    );
  return [...top, ...nested];
}

function ignored(child: SourceEntry, root: LayerRoot): boolean {
  return isSkipped(child.name) || child.name === "node_modules" || (root.claimed ?? []).includes(child.name);
}

function checkChild(root: LayerRoot, rows: readonly Slot[], child: SourceEntry, prefix: string): readonly Diagnostic[] {
  return child.type === "folder"
    ? checkFolder(root, rows, prefix + child.name)
    : checkFile(root, rows, prefix + child.name);
}

function checkFolder(root: LayerRoot, rows: readonly Slot[], folder: string): readonly Diagnostic[] {
  const path = joinPath(root.dir, folder);
  const at = { file: path, line: 1, column: 1 };
  const outside = slots.find((slot) => slot.scope === "project" && slot.path === folder);
  if (outside !== undefined) {
    const message = `${path}/ is ignored: ${outside.plural} stand beside the bot's folder, not inside it`;
    // The folder of a mount stands in bot/extensions/.
    const project = joinPath(root.dir, root.layer === "overlay" ? "../../.." : "..");
    return [diagnostic("evalsInBase", { message, at, help: `move it to ${joinPath(project, outside.path)}/` })];
  }
  const slot = rows.find((row) => row.path === folder);
  if (slot !== undefined && slot.shape !== "file") return [];
  if (rows.some((row) => row.path.startsWith(`${folder}/`))) return [];
  const meant = slot ?? meantSlot(rows, folder);
  return [
    diagnostic("unknownFolder", {
      message: `unknown folder ${path}/: nothing in it is discovered`,
      at,
      help: meant === undefined ? "shared code belongs in lib/" : `did you mean ${labelOf(meant)}?`,
    }),
  ];
}

/** A file at the root of the folder that was meant for a slot: `tools.ts`, `instruction.md`, `Agent.ts`. */
function checkFile(root: LayerRoot, rows: readonly Slot[], file: string): readonly Diagnostic[] {
  const stem = file.replace(/\.[^.]+$/, "");
  const exact = rows.find((slot) => slot.path === stem);
  if (exact?.shape === "file" || exact?.shape === "prose") return [];
  // Only what could be a definition: `config.json` is nobody's mistake, `instruction.md` is.
  if (!/\.(md|[cm]?[jt]s)$/.test(file)) return [];
  const near = exact ?? nearSlot(rows, stem);
  if (near === undefined) return [];
  const path = joinPath(root.dir, file);
  return [
    diagnostic("misplacedFile", {
      message: `${path} is not discovered`,
      at: { file: path, line: 1, column: 1 },
      help: `did you mean ${labelOf(near)}?`,
    }),
  ];
}

function meantSlot(rows: readonly Slot[], folder: string): Slot | undefined {
  const word = lastPart(folder.toLowerCase());
  return rows.find((slot) => slot.aliases?.includes(word) || lastPart(slot.path) === word) ?? nearSlot(rows, folder);
}

function nearSlot(rows: readonly Slot[], word: string): Slot | undefined {
  const path = suggest(
    word,
    rows.map((slot) => slot.path),
  );
  return rows.find((slot) => slot.path === path);
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
