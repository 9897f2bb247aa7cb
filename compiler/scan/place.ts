import { type Diagnostic, diagnostic, type Span } from "../diagnostics/diagnostic.js";
import type { Slot } from "../slots.js";
import { joinPath, type ProjectSource, type SourceEntry } from "../source.js";
import { judgeEnding } from "./files.js";
import { type Found, nothing } from "./found.js";
import type { LayerRoot } from "./layer.js";
import type { Entry } from "./tree.js";
import { wrongExtension } from "./wrong-extension.js";

/** Where a collector looks: one slot of one layer's folder. */
export interface Place {
  readonly source: ProjectSource;
  readonly root: LayerRoot;
  readonly slot: Slot;
}

/** An entry, unless the name in the folder is a link to nowhere or to somewhere else. */
export function accept(place: Place, child: SourceEntry, name: string, file: string): Found {
  const problem = checkLink(child, file);
  return problem === undefined ? { ...nothing, entries: [entryOf(place, name, file)] } : report(problem);
}

/** What is wrong with a link to nowhere or to somewhere else. */
export function checkLink({ type }: SourceEntry, file: string): Diagnostic | undefined {
  if (type === "outside") {
    const message = `${file} leads out of the project`;
    const help = "copy what it points to into the project";
    return diagnostic("linkLeavesProject", { message, at: startOf(file), help });
  }
  if (type === "broken") {
    const message = `${file} can't be read: it is a broken link, or no regular file`;
    const help = "restore what it should point to, or delete it";
    return diagnostic("unreadable", { message, at: startOf(file), help });
  }
  return undefined;
}

/** A file whose ending the slot does not take. */
export function misfit(place: Place, child: SourceEntry, file: string): Found {
  if (child.type !== "file") return accept(place, child, "", file);
  const verdict = judgeEnding(child.name);
  if (verdict === "data") return nothing;
  if (verdict === "ambiguous") return { ...nothing, strays: [{ kind: place.slot.kind, file }] };
  return report(wrongExtension(place.slot, file));
}

export function entryOf({ slot, root }: Place, name: string, file: string): Entry {
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

/** The slot's own folder in the layer. */
export function folderOf({ root, slot }: Place): string {
  return joinPath(root.dir, slot.path);
}

/** The place of what is wrong with a path rather than with a text. */
export function startOf(file: string): Span {
  return { file, line: 1, column: 1 };
}

export function report(each: Diagnostic): Found {
  return { ...nothing, diagnostics: [each] };
}
