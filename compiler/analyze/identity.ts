import { separator } from "../scan/names.js";
import type { Entry } from "../scan/tree.js";
import { slotOf } from "../slots.js";

/** Whether an entry is a module, Markdown, or bytes that nobody reads. */
export function formOf({ kind, file, part }: Entry): "code" | "prose" | "assets" {
  // A server of a plugin is a module that the linker generates.
  if (part !== undefined) return part.form === "server" ? "code" : "prose";
  return slotOf(kind).shape === "assets" ? "assets" : file.endsWith(".md") ? "prose" : "code";
}

/**
 * `tool:approve_pr`, `tool:ci__job_log`, `agent`. Text that belongs to a mount or a subagent carries its owner, and a
 * part of `instructions/` its own name: `instructions:ci`, `subagent:reviewer/instructions/10-tone`.
 */
export function idOf(entry: Entry): string {
  const { kind, name, mount, subagent } = entry;
  if (slotOf(kind).shape === "prose") {
    const owner = ownerOf(kind, mount, subagent);
    return name === "" ? owner : `${owner}/${name}`;
  }
  const qualified = nameOf(entry);
  return qualified === "" ? kind : `${kind}:${qualified}`;
}

/** The name as the model and the manifest see it: seeds merge under their own paths, all else carries its namespace. */
export function nameOf({ kind, name, mount }: Entry): string {
  return kind === "seed" ? name : qualify(name, mount);
}

/** A name with the namespace in front. */
export function qualify(name: string, mount: string | undefined): string {
  return mount === undefined ? name : name === "" ? mount : `${mount}${separator}${name}`;
}

function ownerOf(kind: string, mount: string | undefined, subagent: string | undefined): string {
  if (subagent !== undefined) return `subagent:${qualify(subagent, mount)}/${kind}`;
  return mount === undefined ? kind : `${kind}:${mount}`;
}
