import type { Definition } from "../analyze/definition.js";
import type { Surface, SurfaceEntry } from "../resolve/surface.js";
import { titleOf } from "../scan/package-json.js";

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
  return {
    source: `${portablePath(entry, dir)}:${span.line}`,
    layer: entry.layer,
    ...(entry.package === undefined ? {} : { package: titleOf(entry.package) }),
  };
}

/** The same wherever the project and its packages stand. */
function portablePath({ file, package: of }: Definition["entry"], projectDir: string): string {
  if (of?.dir !== undefined && file.startsWith(`${of.dir}/`)) return `${of.name}${file.slice(of.dir.length)}`;
  const installed = file.lastIndexOf("node_modules/");
  if (installed >= 0) return file.slice(installed + "node_modules/".length);
  return projectDir !== "" && file.startsWith(`${projectDir}/`) ? file.slice(projectDir.length + 1) : file;
}
