/** One collector a shape: how a slot's path is read. */
import { diagnostic } from "../diagnostics/diagnostic.js";
import type { Shape } from "../slots.js";
import { joinPath, parentOf, type SourceEntry } from "../source.js";
import { collectAssets } from "./assets.js";
import { isSkipped, stemOf } from "./files.js";
import { collectMount, collectSkillFolder, collectSubagents } from "./folders.js";
import { type Found, gather, nothing } from "./found.js";
import { accept, folderOf, misfit, type Place, report, startOf } from "./place.js";

/** Everything of one slot in one folder. */
export function collect(place: Place): Found {
  return collectors[place.slot.shape](place);
}

const collectors: { readonly [S in Shape]: (place: Place) => Found } = {
  file: collectFile,
  prose: (place) => gather([collectFile(place), collectFlat(place, (_child, file) => reportNested(place, file))]),
  files: (place) => collectFlat(place, (_child, file) => reportNested(place, file)),
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

/** A folder where only files are looked at: one report for each file that is lost in it. */
function reportNested(place: Place, folder: string): Found {
  const flat = folderOf(place);
  return gather(
    place.source.list(folder).map((each) => {
      const file = joinPath(folder, each.name);
      if (isSkipped(each.name)) return nothing;
      if (each.type === "folder") return reportNested(place, file);
      if (stemOf(each.name, place.slot.endings) === undefined) return nothing;
      const message = `${file} is not discovered: ${place.slot.path}/ has no subfolders`;
      const help = `move it to ${joinPath(flat, each.name)}, or to lib/ when other files import it`;
      return report(diagnostic("nestedFile", { message, at: startOf(file), help }));
    }),
  );
}
