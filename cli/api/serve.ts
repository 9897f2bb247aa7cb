/** `@cursor/bdk/serve`: a server in this process, for programs and tests. */
import { join, resolve } from "node:path";
import { type Diagnostic, hasErrors } from "../../compiler/diagnostics/diagnostic.js";
import { type CompileOptions, compile } from "../../compiler/index.js";
import { loadOrRefuse } from "../../runtime/host/load-failure.js";
import type { HostHandle, HostOptions, LogLine } from "../../runtime/host/options.js";
import { infoDiagnostics } from "../info/diagnostics.js";
import { type LoadableBundle, loadBundle } from "./agent-bundle.js";
import { type OpenHostOptions, openHost } from "./open-host.js";

export type { Diagnostic, HostHandle, HostOptions, LogLine };

/** What `serve` takes besides the host's own options. */
export interface ServeOptions extends OpenHostOptions, Pick<CompileOptions, "cache" | "loadTimeoutMs" | "onPhase"> {}

/** A running server and what the compiler said about its project. */
export interface ServeHandle extends HostHandle {
  /** Warnings; a project with errors does not get this far. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The project has errors, so nothing was started. `diagnostics` holds all of them, warnings too. */
export class ProjectError extends Error {
  override readonly name = "ProjectError";
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    const errors = diagnostics.filter((each) => each.severity === "error");
    super(errors.map((each) => `${each.code}: ${each.message}`).join("\n"));
    this.diagnostics = diagnostics;
  }
}

/**
 * Compiles a project folder (or a folder of several) and serves it from this process, as `bdk serve` does.
 *
 * @throws ProjectError when the project has errors.
 * @example
 * const server = await serve("my-agent", { port: 0, model: "offline" });
 * const health = await fetch(`${server.url}/v1/health`);
 * await server.close();
 */
export async function serve(dir: string, options: ServeOptions = {}): Promise<ServeHandle> {
  const { cache, loadTimeoutMs, onPhase, ...hostOptions } = options;
  const root = resolve(dir);
  const result = await compile(root, {
    environment: "strict",
    until: "project",
    ...(cache === undefined ? {} : { cache }),
    ...(loadTimeoutMs === undefined ? {} : { loadTimeoutMs }),
    ...(onPhase === undefined ? {} : { onPhase }),
  });
  if (result.bundle === undefined || hasErrors(result.diagnostics)) throw new ProjectError(result.diagnostics);
  const { bundle } = result;
  const diagnostics = infoDiagnostics(result.diagnostics);
  const load = () => loadOrRefuse(() => loadBundle(bundle, root, { diagnostics }), bundle.manifest);
  const host = await openHost(load, { stateRoot: join(root, ".bdk"), base: root, ...hostOptions });
  return Object.assign(host, { diagnostics: result.diagnostics });
}

/**
 * Serves what `build` returned, without compiling again.
 *
 * @param root Folder that the project's relative imports of unbundled packages are resolved from. Default: the working directory.
 * @example
 * const { bundle } = await build("my-agent");
 * if (bundle) await createHost(bundle, { port: 8080 }, "my-agent");
 */
export async function createHost(
  bundle: LoadableBundle,
  options: OpenHostOptions = {},
  root = ".",
): Promise<HostHandle> {
  if (bundle?.manifest === undefined) {
    throw new TypeError("createHost takes the bundle that build() returned; without one, its diagnostics say why");
  }
  return openHost(() => loadOrRefuse(() => loadBundle(bundle, resolve(root)), bundle.manifest), options);
}
