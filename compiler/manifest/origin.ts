import type { Definition } from "../analyze/definition.js";
import type { Surface, SurfaceEntry } from "../resolve/surface.js";

/** Where an entry of the manifest comes from. */
export interface Origin {
  readonly id: string;
  readonly source: string;
  readonly layer: Definition["entry"]["layer"];
  readonly package?: string;
  readonly shadows?: { readonly source: string; readonly layer: string; readonly package?: string }[];
}

/** The origin of an entry: its winner, and what that hides. */
export function originOf({ id, winner, shadowed }: SurfaceEntry, surface: Surface): Origin {
  return {
    id,
    ...standing(winner, surface),
    ...(shadowed.length === 0 ? {} : { shadows: shadowed.map((each) => standing(each, surface)) }),
  };
}

/** `bot/tools/approve_pr.ts:4` below the agent's own folder, `@acme/ci/tools/log.ts:3` in a package. */
export function standing({ entry, span }: Definition, { dir }: Surface): Pick<Origin, "source" | "layer" | "package"> {
  const installed = entry.file.lastIndexOf("node_modules/");
  const own = dir !== "" && entry.file.startsWith(`${dir}/`) ? entry.file.slice(dir.length + 1) : entry.file;
  const file = installed < 0 ? own : entry.file.slice(installed + "node_modules/".length);
  return {
    source: `${file}:${span.line}`,
    layer: entry.layer,
    ...(entry.package === undefined ? {} : { package: `${entry.package.name}@${entry.package.version}` }),
  };
}
