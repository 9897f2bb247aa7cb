import { ownSubpath } from "../aliases.js";
import { spanOf } from "../analyze/at.js";
import type { Literal, ModuleFacts, Place, PropertyFacts } from "../analyze/facts.js";
import type { Span } from "../diagnostics/diagnostic.js";

/** What a mount module mounts, as far as its syntax tells. */
export type MountTarget =
  | { readonly form: "module"; readonly specifier: string; readonly name: string; readonly at: Span }
  | PluginTarget
  | { readonly form: "inline" }
  /** `at`: there is a default export, and only running it would tell. */
  | { readonly form: "unknown"; readonly at?: Span };

/** `cursorPlugin({ path, variables })`. */
export interface PluginTarget {
  readonly form: "plugin";
  /** Absent when it is computed. */
  readonly path?: Literal;
  readonly at: Span;
  /** Names under `variables`; `open` when there may be more than syntax shows. */
  readonly variables: { readonly names: readonly string[]; readonly open: boolean };
}

/** Reads the default export of a mount module: `ci({ … })`, `export { default } from "@acme/ci"`, `cursorPlugin(…)`. */
export function readTarget(file: string, { exported, reexports = [] }: ModuleFacts): MountTarget {
  const callee = exported?.callee;
  if (exported?.form === "call" && callee?.from !== undefined) {
    const own = ownSubpath(callee.from) !== undefined;
    if (own && callee.name === "cursorPlugin") return readPlugin(file, exported.place, exported);
    if (own && callee.name === "defineExtension") return { form: "inline" };
    return { form: "module", specifier: callee.from, name: callee.name, at: spanOf(file, callee.place) };
  }
  const bare = reexports.find(({ name }) => name === "default");
  if (bare === undefined) {
    const isHidden = exported?.form === "opaque" || (exported?.form === "call" && callee?.undeclared !== true);
    return { form: "unknown", ...(isHidden && exported !== undefined ? { at: spanOf(file, exported.place) } : {}) };
  }
  return { form: "module", specifier: bare.from, name: bare.imported, at: spanOf(file, bare.place) };
}

interface Properties {
  readonly properties: readonly PropertyFacts[];
  readonly open: boolean;
}

function readPlugin(file: string, place: Place, { properties, open }: Properties): PluginTarget {
  const find = (name: string) => properties.find((each) => each.path.length === 1 && each.path[0] === name);
  const [path, variables] = [find("path"), find("variables")];
  const names = properties.filter(({ path: [first], path: all }) => first === "variables" && all.length === 2);
  const isWritten = variables === undefined ? !open : variables.object === true && variables.open !== true;
  return {
    form: "plugin",
    ...(path?.literal === undefined ? {} : { path: path.literal }),
    at: spanOf(file, path?.value ?? place),
    variables: { names: names.map((each) => each.path[1] ?? ""), open: !isWritten },
  };
}
