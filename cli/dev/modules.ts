import { join } from "node:path";
import { loadProject } from "../../runtime/host/load.js";
import type { AgentBundle } from "../../runtime/manifest/bundle.js";
import { loadBundle } from "../api/agent-bundle.js";
import type { Generation, PatchCode } from "./protocol.js";

/** The project's code as it runs: its definitions, and the modules that a patch can build on. */
export interface RunningCode {
  readonly bundle: AgentBundle;
  readonly modules: ReadonlyMap<string, unknown>;
}

/** A patch that has run and is not served yet. */
export interface PatchedCode {
  readonly definitions: AgentBundle["definitions"];
  readonly modules: ReadonlyMap<string, unknown>;
}

/** Runs a whole generation. */
export async function loadGeneration({ bundle, root, id, diagnostics }: Generation): Promise<RunningCode> {
  const modules = new Map<string, unknown>();
  const loaded = await loadBundle(bundle, root, {
    filename: textName(id),
    diagnostics,
    scope: { keep: (found: Readonly<Record<string, unknown>>) => keep(modules, found) },
  });
  return { bundle: loaded, modules };
}

/** Runs the modules that an edit touches, on those that run already. What runs is not changed. */
export async function loadPatch(running: RunningCode, { id, root, code }: PatchCode): Promise<PatchedCode> {
  const modules = new Map(running.modules);
  const { definitions } = running.bundle;
  if (code.text === "") return { definitions, modules };
  const found = await loadProject(
    { ...code, root, filename: textName(id) },
    {
      keep: (own: Readonly<Record<string, unknown>>) => keep(modules, own),
      kept: (key: string) => {
        if (running.modules.has(key)) return running.modules.get(key);
        throw new Error(`the module ${key} is not there to build on`);
      },
    },
  );
  const slugs = new Set([...Object.keys(definitions), ...Object.keys(found)]);
  return {
    definitions: Object.fromEntries([...slugs].map((slug) => [slug, { ...definitions[slug], ...found[slug] }])),
    modules,
  };
}

function keep(modules: Map<string, unknown>, found: Readonly<Record<string, unknown>>): void {
  for (const [key, value] of Object.entries(found)) modules.set(key, value);
}

/** One name a generation, so that stacks of code that still runs keep their own source map. */
function textName(id: number): string {
  return `bdk-project-${id}.js`;
}

/** What a generation's text is called in stacks. */
export function textFile(root: string, id: number): string {
  return join(root, textName(id));
}
