/** One collector a shape: how a slot's path is read. */
import { type Diagnostic, diagnostic, type Span } from "../diagnostics/diagnostic.js";
import { labelOf, type Shape, type Slot } from "../slots.js";
import { joinPath, type ProjectSource, parentOf, type SourceEntry } from "../source.js";
import { isSkipped, judgeEnding, stemOf } from "./files.js";
import { type Found, gather, nothing } from "./found.js";
import { type LayerRoot, scanLayer } from "./layer.js";
import type { Entry } from "./tree.js";

/** Where a collector looks: one slot of one layer's folder. */
interface Place {
  readonly source: ProjectSource;
  readonly root: LayerRoot;
  readonly slot: Slot;
}

/** Everything of one slot in one folder. */
export function collect(place: Place): Found {
  return collectors[place.slot.shape](place);
}

const collectors: { readonly [S in Shape]: (place: Place) => Found } = {
  file: collectFile,
  prose: (place) => gather([collectFile(place), collectParts(place)]),
  files: (place) => collectFlat(place, (child, file) => reportNested(place, child, file)),
  tree: (place) => collectTree(place, folderOf(place), ""),
  skills: (place) => collectFlat(place, (child, file) => collectSkillFolder(place, child, file)),
  folders: collectSubagents,
  mounts: (place) => collectFlat(place, (child, file) => collectMount(place, child, file)),
  assets: (place) => collectAssets(place, folderOf(place), ""),
  private: () => nothing,
};

/** `agent.ts`: one file, no name. */
function collectFile(place: Place): Found {
  const { slot, source, root } = place;
  const stem = joinPath(root.dir, slot.path);
  const folder = parentOf(stem);
  return gather(
    source.list(folder).map((child) => {
      const file = joinPath(folder, child.name);
      const ending = child.name.slice(child.name.lastIndexOf("."));
      if (file !== stem + ending || isSkipped(child.name) || child.type === "folder") return nothing;
      return slot.endings.includes(ending) ? accept(place, child, "", file) : misfit(place, child, file);
    }),
  );
}

/** `instructions/`: each file is a part of one text. */
function collectParts(place: Place): Found {
  return collectFlat(place, (child, file) => reportNested(place, child, file));
}

/** Files of one folder, each an entry; what a folder in it means is up to the shape. */
function collectFlat(place: Place, onFolder: (child: SourceEntry, file: string) => Found): Found {
  const folder = folderOf(place);
  return gather(
    place.source.list(folder).map((child) => {
      const file = joinPath(folder, child.name);
      if (isSkipped(child.name)) return nothing;
      if (child.type === "folder") return onFolder(child, file);
      const name = stemOf(child.name, place.slot.endings);
      return name === undefined ? misfit(place, child, file) : accept(place, child, name, file);
    }),
  );
}

/** Files at any depth; the subfolders are part of the name. */
function collectTree(place: Place, folder: string, prefix: string): Found {
  return gather(
    place.source.list(folder).map((child) => {
      const file = joinPath(folder, child.name);
      if (isSkipped(child.name)) return nothing;
      if (child.type === "folder") return collectTree(place, file, `${prefix}${child.name}/`);
      const name = stemOf(child.name, place.slot.endings);
      if (name !== undefined) return accept(place, child, prefix + name, file);
      // Endings of two parts (`.eval.ts`) pick their files out of a folder that also holds others.
      return place.slot.endings.some((ending) => ending.lastIndexOf(".") > 0) ? nothing : misfit(place, child, file);
    }),
  );
}

/** Every file below, named by its path, as it is: seeds keep their tests and dotfiles. */
function collectAssets(place: Place, folder: string, prefix: string): Found {
  return gather(
    place.source.list(folder).map((child) => {
      const file = joinPath(folder, child.name);
      if (child.name === ".DS_Store") return nothing;
      const name = prefix + child.name;
      return child.type === "folder" ? collectAssets(place, file, `${name}/`) : accept(place, child, name, file);
    }),
  );
}

/** `skills/<name>/SKILL.md` and its siblings. */
function collectSkillFolder(place: Place, child: SourceEntry, folder: string): Found {
  const main = joinPath(folder, "SKILL.md");
  const below = collectAssets(place, folder, "");
  if (place.source.typeOf(main) === "file") {
    const files = below.entries.map((entry) => entry.file).filter((file) => file !== main);
    return { ...below, entries: [{ ...entryOf(place, child.name, main), files }] };
  }
  const near = below.entries.find((entry) => /^(skill|readme|index)\.mdx?$/i.test(entry.name));
  return report(
    diagnostic("skillFileMissing", {
      message: `the skill "${child.name}" has no SKILL.md`,
      at: startOf(near?.file ?? folder),
      help: near === undefined ? `create ${main} with a description` : `rename ${near.file} to SKILL.md`,
    }),
  );
}

/** `subagents/<id>/agent.ts`, and what else the table lets a subagent bring. */
function collectSubagents(place: Place): Found {
  const folder = folderOf(place);
  return gather(
    place.source.list(folder).map((child) => {
      const file = joinPath(folder, child.name);
      if (isSkipped(child.name)) return nothing;
      if (child.type !== "folder") return reportLooseSubagent(place, child, file);
      const { dir: _, ...origin } = place.root;
      const inner = scanLayer(place.source, { ...origin, dir: file, contributor: "subagent", subagent: child.name });
      const main = inner.entries.find((entry) => entry.kind === "agent");
      if (main === undefined) {
        const message = `the subagent "${child.name}" has no agent.ts`;
        const help = `create ${file}/agent.ts: export default defineAgent({ description: "…" })`;
        return gather([
          inner,
          { entries: [] },
          report(diagnostic("subagentFileMissing", { message, at: startOf(file), help })),
        ]);
      }
      const rest = inner.entries.filter((entry) => entry.kind !== "agent");
      return { ...inner, entries: [entryOf(place, child.name, main.file), ...rest] };
    }),
  );
}

function reportLooseSubagent(place: Place, child: SourceEntry, file: string): Found {
  const name = stemOf(child.name, [...place.slot.endings, ".md"]);
  if (name === undefined) return misfit(place, child, file);
  const message = `${file} is not discovered: a subagent is a folder`;
  const help = `move it to ${folderOf(place)}/${name}/agent.ts`;
  return report(diagnostic("misplacedFile", { message, at: startOf(file), help, severity: "error" }));
}

/** `extensions/<ns>/extension.ts`, with overlays beneath it. */
function collectMount(place: Place, child: SourceEntry, folder: string): Found {
  const main = place.source.list(folder).find((each) => stemOf(each.name, place.slot.endings) === "extension");
  const overlays = scanLayer(place.source, {
    dir: folder,
    scope: "base",
    contributor: "extension",
    layer: "overlay",
    mount: child.name,
    claimed: main === undefined ? [] : [main.name],
  });
  if (main !== undefined) return gather([accept(place, main, child.name, joinPath(folder, main.name)), overlays]);
  const message = `the mount "${child.name}" has no extension.ts`;
  const help = `create ${folder}/extension.ts that default-exports the extension; the files beside it are its overlays`;
  return gather([report(diagnostic("mountFileMissing", { message, at: startOf(folder), help })), overlays]);
}

/** A folder where only files are looked at: one report for each file that is lost in it. */
function reportNested(place: Place, child: SourceEntry, folder: string): Found {
  const flat = folderOf(place);
  return gather(
    place.source.list(folder).map((each) => {
      const file = joinPath(folder, each.name);
      if (isSkipped(each.name)) return nothing;
      if (each.type === "folder") return reportNested(place, child, file);
      if (stemOf(each.name, place.slot.endings) === undefined) return nothing;
      const message = `${file} is not discovered: ${place.slot.path}/ has no subfolders`;
      const help = `move it to ${joinPath(flat, each.name)}, or to lib/ when other files import it`;
      return report(diagnostic("nestedFile", { message, at: startOf(file), help }));
    }),
  );
}

/** An entry, unless the name in the folder is a link to nowhere or to somewhere else. */
function accept(place: Place, child: SourceEntry, name: string, file: string): Found {
  if (child.type === "outside") {
    const message = `${file} leads out of the project`;
    const help = "copy what it points to into the project";
    return report(diagnostic("linkLeavesProject", { message, at: startOf(file), help }));
  }
  if (child.type === "broken") {
    const message = `${file} can't be read: it is a broken link, or no regular file`;
    const help = "restore what it should point to, or delete it";
    return report(diagnostic("unreadable", { message, at: startOf(file), help }));
  }
  return { ...nothing, entries: [entryOf(place, name, file)] };
}

/** A file whose ending the slot does not take. */
function misfit(place: Place, child: SourceEntry, file: string): Found {
  if (child.type !== "file") return accept(place, child, "", file);
  const verdict = judgeEnding(child.name);
  if (verdict === "data") return nothing;
  if (verdict === "ambiguous") return { ...nothing, strays: [{ kind: place.slot.kind, file }] };
  return report(wrongExtension(place.slot, file));
}

/** The diagnostic for a file with an ending that its slot does not take. */
export function wrongExtension(slot: Slot, file: string): Diagnostic {
  const { endings } = slot;
  const wanted = /\.[cm]?[jt]sx?$/.test(file) ? ".ts" : (endings[0] ?? "");
  const renames = wanted === ".ts" ? /\.[cm]?[jt]sx?$/.test(file) : /\.(txt|mdx?|mdc|markdown)$/.test(file);
  const target = file.replace(/\.[^./]+$/, wanted);
  return diagnostic("wrongExtension", {
    message: `${file} is not discovered: ${labelOf(slot)} takes ${endings.join(", ")}`,
    at: startOf(file),
    help: renames ? `rename it to ${target}` : `write it as ${target}, or move it to lib/ if it is data`,
  });
}

function entryOf({ slot, root }: Place, name: string, file: string): Entry {
  return {
    kind: slot.kind,
    name,
    file,
    files: [],
    layer: root.layer,
    ...(root.mount === undefined ? {} : { mount: root.mount }),
    ...(root.subagent === undefined ? {} : { subagent: root.subagent }),
    ...(root.package === undefined ? {} : { package: root.package }),
  };
}

function folderOf({ root, slot }: Place): string {
  return joinPath(root.dir, slot.path);
}

function startOf(file: string): Span {
  return { file, line: 1, column: 1 };
}

function report(each: Diagnostic): Found {
  return { ...nothing, diagnostics: [each] };
}
