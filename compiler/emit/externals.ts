/** Packages that stay outside: copied beside the bundle with all they depend on, so that it runs from an empty folder. */
import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import path from "node:path";
import { type Diagnostic, diagnostic, type Result } from "../diagnostics/diagnostic.js";
import { readPackage } from "../link/package-folder.js";
import type { ExternalPackage } from "../link/project-code.js";
import type { EmittedFile } from "./bundle.js";

/** Where a copied package goes, and from where. */
interface Placed {
  readonly name: string;
  /** Real folder of the package. */
  readonly dir: string;
  /** POSIX path below the output folder. */
  readonly target: string;
}

/**
 * Copies the packages into `node_modules/`. Each dependency is placed at the top, unless another version stands there:
 * then it goes below the package that needs it.
 */
export function copyExternals(externals: readonly ExternalPackage[]): Result<readonly EmittedFile[]> {
  const placed = new Map<string, Placed>();
  const diagnostics: Diagnostic[] = [];
  const queue: Placed[] = externals.map(({ name, dir }) => ({
    name,
    dir: realpathSync(dir),
    target: `node_modules/${name}`,
  }));
  for (const each of queue) placed.set(each.target, each);
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    for (const { name, optional } of dependenciesOf(next.dir)) {
      const dir = findInstalled(name, next.dir);
      if (dir === undefined) {
        if (!optional) diagnostics.push(notInstalled(name, next));
        continue;
      }
      const target = placeFor(name, dir, next, placed);
      if (target === undefined) continue;
      const dependency = { name, dir, target };
      placed.set(target, dependency);
      queue.push(dependency);
    }
  }
  const files = [...placed.values()].flatMap((each) => filesOf(each));
  return { value: files.sort((a, b) => (a.path < b.path ? -1 : 1)), diagnostics };
}

/** Where it still has to be put; `undefined` when what is found from there is it already. */
function placeFor(name: string, dir: string, from: Placed, placed: ReadonlyMap<string, Placed>): string | undefined {
  for (let base = `${from.target}/node_modules`; ; ) {
    const found = placed.get(`${base}/${name}`);
    if (found?.dir === dir) return undefined;
    if (found !== undefined) return `${from.target}/node_modules/${name}`;
    if (base === "node_modules") return `node_modules/${name}`;
    base = base.replace(/(^|\/)node_modules\/(?:@[^/]+\/)?[^/]+\/node_modules$/, "$1node_modules");
  }
}

function dependenciesOf(dir: string): readonly { readonly name: string; readonly optional: boolean }[] {
  const manifest = readPackage(dir)?.manifest ?? {};
  const names = (field: string): string[] => Object.keys((manifest[field] ?? {}) as object);
  const optional = new Set([...names("optionalDependencies"), ...names("peerDependencies")]);
  const all = new Set([...names("dependencies"), ...optional]);
  return [...all].sort().map((name) => ({ name, optional: optional.has(name) }));
}

/** As Node looks it up from the package's real folder. */
function findInstalled(name: string, from: string): string | undefined {
  for (let dir = from; ; dir = path.dirname(dir)) {
    const candidate = path.join(dir, "node_modules", name);
    if (existsSync(path.join(candidate, "package.json"))) return realpathSync(candidate);
    if (path.dirname(dir) === dir) return undefined;
  }
}

/** Every file of the package but those of packages inside it. */
function filesOf({ dir, target }: Placed, below = ""): EmittedFile[] {
  return readdirSync(path.join(dir, below), { withFileTypes: true }).flatMap((entry) => {
    const name = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory())
      return entry.name === "node_modules" || entry.name === ".git" ? [] : filesOf({ name: "", dir, target }, name);
    return entry.isFile() ? [{ path: `${target}/${name}`, contents: readFileSync(path.join(dir, name)) }] : [];
  });
}

function notInstalled(name: string, from: Placed): Diagnostic {
  return diagnostic("missingPackage", {
    message: `the package "${name}" is not installed, and "${from.name}", which is copied beside the bundle, needs it`,
    help: "run npm install",
  });
}
