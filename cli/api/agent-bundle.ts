import type { Bundle } from "../../compiler/emit/bundle.js";
import type { InfoDiagnostic } from "../../runtime/host/info.js";
import { loadProject } from "../../runtime/host/load.js";
import type { AgentBundle } from "../../runtime/manifest/bundle.js";

/** The parts of a compiled bundle that a server needs; plain data, so it can cross to another process. */
export type LoadableBundle = Pick<Bundle, "manifest" | "project" | "blobs">;

export interface LoadOptions {
  /** Names the text in stack traces; generations of one name share the newest source map. */
  readonly filename?: string;
  /** Findings to show in `/v1/info`. */
  readonly diagnostics?: readonly InfoDiagnostic[];
  /** Further members of `__bdk`. */
  readonly scope?: Readonly<Record<string, unknown>>;
}

/**
 * Runs a compiled project's code once and joins it to its manifest. Rejects with whatever the code throws.
 *
 * @param root absolute project folder
 */
export async function loadBundle(
  bundle: LoadableBundle,
  root: string,
  { filename = "bdk-project.js", diagnostics = [], scope = {} }: LoadOptions = {},
): Promise<AgentBundle> {
  const definitions = await loadProject({ ...bundle.project, root, filename }, scope);
  return { manifest: bundle.manifest, definitions, files: bundle.blobs, diagnostics };
}
