/** Which modules are linked for a surface: definitions in code, mounts before what they bring. */
import { realpathSync } from "node:fs";
import path from "node:path";
import type { Definition } from "../analyze/definition.js";
import type { LinkedModule, LinkedMount } from "../link/link.js";
import { sharedScopes } from "../link/mounts.js";
import { findTwins, placeKey } from "../link/resolution.js";
import { pluginServerModule } from "../link/templates/plugin-server.js";
import type { Surface } from "../resolve/surface.js";
import type { Kind } from "../slots.js";

/** A definition in code, and the module to link for it. */
export interface CodeDefinition {
  readonly slug: string;
  readonly id: string;
  readonly winner: Definition;
  readonly module: LinkedModule;
}

/** Kinds whose modules are no part of the server. */
const elsewhere: ReadonlySet<Kind> = new Set(["eval", "eval-config", "playground", "lib"]);

/** The mounts of all agents, as the linker has to know them. */
export function linkedMounts(surfaces: readonly Surface[]): readonly LinkedMount[] {
  return surfaces.flatMap(({ slug, mounts }) =>
    mounts.flatMap(({ namespace, file, scope, module, via = [], package: of, specifier }) =>
      scope === undefined || module === undefined
        ? []
        : [
            {
              key: keyOf(slug, namespace),
              scope,
              module,
              file,
              via,
              names: [...(of === undefined ? [] : [of.name]), ...(specifier === undefined ? [] : [specifier])],
            },
          ],
    ),
  );
}

/** Definitions in code in the order in which their modules run. Those in `faulty` are left out. */
export function codeDefinitions(
  surfaces: readonly Surface[],
  root: string,
  faulty: ReadonlySet<Definition>,
): readonly CodeDefinition[] {
  const shared = new Set(
    sharedScopes(root, linkedMounts(surfaces)).flatMap(({ mounts }) => mounts.map(({ key }) => key)),
  );
  const found = surfaces.flatMap((surface) =>
    surface.entries
      .filter(({ winner }) => winner.form === "code" && !elsewhere.has(winner.entry.kind) && !faulty.has(winner))
      .map(({ id, winner }) => ({ slug: surface.slug, id, winner, module: moduleOf(id, winner, surface, shared) })),
  );
  const isMount = ({ winner }: CodeDefinition) => winner.entry.kind === "extension";
  return [...found.filter(isMount), ...found.filter((each) => !isMount(each))];
}

/** Where an extension is defined, as the linked text names that module. */
export function definedIn(
  { slug, winner }: Pick<CodeDefinition, "slug" | "winner">,
  surfaces: readonly Surface[],
  root: string,
): { readonly definedIn?: string } {
  const { kind, file, name } = winner.entry;
  if (kind !== "extension") return {};
  const mounts = surfaces.find((surface) => surface.slug === slug)?.mounts ?? [];
  const mount = mounts.find(({ namespace }) => namespace === name);
  // What a plugin is has no root, and what an unknown mount stands for may have any.
  if (mount !== undefined && mount.form !== "package" && mount.form !== "inline") return {};
  const real = realpathSync(root);
  const folders = linkedMounts(surfaces).map(({ scope }) => path.join(real, scope));
  const key = placeKey(findTwins(real, folders), real, realpathSync(path.join(root, mount?.module ?? file)));
  return key.startsWith("../") ? {} : { definedIn: key };
}

function moduleOf(
  id: string,
  { entry }: Definition,
  { slug, mounts }: Surface,
  shared: ReadonlySet<string>,
): LinkedModule {
  const mount = entry.layer === "project" ? undefined : mounts.find(({ namespace }) => namespace === entry.mount);
  const key = mount === undefined ? "" : keyOf(slug, mount.namespace);
  return {
    slug,
    id,
    file: entry.file,
    ...(mount === undefined ? {} : { needs: mount.file }),
    ...(entry.layer === "extension" && shared.has(key) ? { mount: key } : {}),
    ...(entry.part?.form === "server" && mount !== undefined
      ? { generated: pluginServerModule(entry.part, mount) }
      : {}),
  };
}

function keyOf(slug: string, namespace: string): string {
  return `${slug}/${namespace}`;
}
