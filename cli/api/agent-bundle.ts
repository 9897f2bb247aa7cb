import type { Bundle } from "../../compiler/emit/bundle.js";
import { loadProject } from "../../runtime/host/load.js";
import type { AgentBundle } from "../../runtime/manifest/bundle.js";

/** The parts of a compiled bundle that a server needs; plain data, so it can cross to another process. */
export type LoadableBundle = Pick<Bundle, "manifest" | "project" | "blobs">;

/**
 * Runs a compiled project's code once and joins it to its manifest. Rejects with whatever the code throws.
 *
 * @param root absolute project folder
 * @param filename names the text in stack traces; generations of one name share the newest source map
 */
export async function loadBundle(
  bundle: LoadableBundle,
  root: string,
  filename = "bdk-project.js",
): Promise<AgentBundle> {
  const definitions = await loadProject({ ...bundle.project, root, filename });
  return { manifest: bundle.manifest, definitions, files: bundle.blobs };
}
