/** Resolves imports by themselves, exactly as the linker will. */
import path from "node:path";
import type { PluginBuild } from "esbuild";
import { ownAliases } from "./resolution.js";

/** The file that `specifier` means for the module `from`, both absolute; undefined when there is none. */
export type ResolveModule = (specifier: string, from: string) => Promise<string | undefined>;

interface Request {
  readonly specifier: string;
  readonly from: string;
  readonly give: (file: string | undefined) => void;
}

/**
 * Makes a function that resolves modules of a project. What is asked for in one turn is resolved together.
 *
 * @param root Absolute folder of the project.
 */
export function moduleResolver(root: string): ResolveModule {
  const known = new Map<string, Promise<string | undefined>>();
  let waiting: Request[] = [];
  const ask = (specifier: string, from: string): Promise<string | undefined> =>
    new Promise((give, fail) => {
      if (waiting.length === 0) {
        queueMicrotask(() => {
          const all = waiting;
          waiting = [];
          resolveAll(root, all).catch(fail);
        });
      }
      waiting.push({ specifier, from, give });
    });
  return (specifier, from) => {
    const key = `${path.dirname(from)}\0${specifier}`;
    const found = known.get(key) ?? ask(specifier, from);
    known.set(key, found);
    return found;
  };
}

/** esbuild resolves only within a build: this one has nothing to build. */
async function resolveAll(root: string, requests: readonly Request[]): Promise<void> {
  const { build } = await import("esbuild");
  await build({
    absWorkingDir: root,
    stdin: { contents: "" },
    write: false,
    bundle: true,
    format: "esm",
    platform: "node",
    logLevel: "silent",
    alias: ownAliases(),
    plugins: [
      {
        name: "bdk-resolve",
        setup: (pass) => pass.onStart(async () => void (await Promise.all(requests.map((each) => answer(pass, each))))),
      },
    ],
  });
}

async function answer(pass: PluginBuild, { specifier, from, give }: Request): Promise<void> {
  const {
    path: file,
    namespace,
    external,
    errors,
  } = await pass.resolve(specifier, {
    kind: "import-statement",
    importer: from,
    resolveDir: path.dirname(from),
  });
  give(errors.length === 0 && !external && namespace === "file" ? file : undefined);
}
