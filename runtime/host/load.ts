/**
 * Loads linked project text in this process. It becomes one function by `vm.compileFunction`: a generation that nobody
 * holds any more is garbage, which an imported module never becomes, and a `vm.Script` only late (V8 caches its source).
 */
import { join } from "node:path";
import { compileFunction } from "node:vm";

import {
  type Definitions,
  type ProjectFunction,
  projectClosing,
  projectOpening,
  runProject,
} from "../manifest/project-scope.js";
import { textImports } from "../manifest/text-imports.js";
import { addSourceMap } from "./stack.js";

/** Linked project code and where its outside stands. */
export interface LoadableProject {
  /** The body of `async (__bdk) => { … }`. */
  readonly text: string;
  /** Source map (v3 JSON) of `text`. */
  readonly map?: string;
  /** Absolute folder of the project; `import.meta` of its modules points below it. */
  readonly root: string;
  /** Name of the text in stack traces, below `root`; one name a generation keeps their maps apart. */
  readonly filename?: string;
  /** First part of a module's key → absolute folder, for modules outside `root`. */
  readonly folders?: Readonly<Record<string, string>>;
  /** Packages outside the text: where they are found, and what has to be imported before it runs. */
  readonly externals?: readonly { readonly name: string; readonly from: string; readonly imports: readonly string[] }[];
}

/**
 * Runs the project's code once and gives its definitions by slug and entry id. Rejects with what the code throws;
 * `renderStack` names the project's own lines in it.
 *
 * @param extra further members of `__bdk` (`bdk dev` keeps modules for patches)
 * @example const definitions = await loadProject({ text, map, root: "/work/my-agent" })
 */
export async function loadProject(
  project: LoadableProject,
  extra: Readonly<Record<string, unknown>> = {},
): Promise<Definitions> {
  const filename = join(project.root, project.filename ?? "bdk-project.js");
  const run = compileFunction(`${projectOpening}\n${project.text}${projectClosing}`, ["__bdk"], {
    filename,
    importModuleDynamically: textImports(),
  }) as ProjectFunction;
  if (project.map !== undefined) addSourceMap({ file: filename, map: project.map, lineOffset: 1 });
  const externals = project.externals ?? [];
  return runProject(
    run,
    {
      locate: (key) => placeOf(key, project),
      resolveFrom: (specifier) => join(fromOf(specifier, externals) ?? project.root, "bdk-project.js"),
      imports: externals.flatMap((each) => each.imports),
    },
    extra,
  );
}

/** Where the module of a key stands: `node_modules/@acme/ui/x.ts` may stand in a workspace's folder. */
function placeOf(key: string, { root, folders = {} }: LoadableProject): string {
  const prefix = Object.keys(folders).find((each) => each !== "" && key.startsWith(`${each}/`));
  return prefix === undefined ? join(root, key) : join(folders[prefix] ?? root, key.slice(prefix.length));
}

function fromOf(specifier: string, externals: NonNullable<LoadableProject["externals"]>): string | undefined {
  return externals.find(({ name }) => specifier === name || specifier.startsWith(`${name}/`))?.from;
}
