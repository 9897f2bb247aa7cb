/** Phase 6: prints the bundle. The runtime is prebuilt text and is linked as text; nothing is parsed again. */
import { existsSync, readFileSync } from "node:fs";
import type { Manifest } from "../../runtime/manifest/schema.js";
import type { Diagnostic, Result } from "../diagnostics/diagnostic.js";
import { distFile } from "../link/package-folder.js";
import { bareFolders } from "../link/places.js";
import type { ProjectCode } from "../link/project-code.js";
import { printManifest } from "../manifest/canonical.js";
import type { Bundle, EmittedFile } from "./bundle.js";
import { copyExternals } from "./externals.js";
import { neededSections } from "./sections.js";
import { printServer } from "./templates/server.js";

export interface EmitInput {
  readonly manifest: Manifest;
  readonly project: ProjectCode;
  readonly blobs: Bundle["blobs"];
  /** Sections to link besides those that the manifest needs. */
  readonly include: readonly string[];
}

/** Everything to write: `server.mjs` and its map, `manifest.json`, and what stays beside the bundle. */
export function emit({ manifest, project, blobs, include }: EmitInput): Result<readonly EmittedFile[]> {
  const needed = neededSections(manifest, include, project.text);
  const externals = copyExternals(project.externals);
  const diagnostics: Diagnostic[] = [...needed.diagnostics, ...externals.diagnostics];
  const server = printServer({
    loader: readDist("runtime/loader.js"),
    core: readDist("runtime/core.js"),
    sections: needed.value.map((name) => ({ name, text: readDist(`runtime/${name}.js`) })),
    manifest: JSON.stringify(manifest),
    files: JSON.stringify(blobs),
    imports: JSON.stringify(project.externals.flatMap(({ imports }) => imports)),
    project: project.text,
  });
  const files: EmittedFile[] = [
    { path: "server.mjs", contents: server.text },
    { path: "server.mjs.map", contents: shiftMap(project.map, server.projectLine) },
    { path: "manifest.json", contents: printManifest(manifest) },
    ...project.beside.map(({ path, file }) => ({ path: `assets/${path}`, contents: readFileSync(file) })),
    ...bareFolders(project).map((folder) => ({ path: `assets/${folder}/.folder`, contents: "" })),
    ...externals.value,
  ];
  return { value: files, diagnostics };
}

/** The same map for text that begins some lines further down. */
function shiftMap(map: string, lines: number): string {
  const parsed = JSON.parse(map) as { readonly mappings: string; readonly sources: readonly string[] };
  const { sources, mappings } = parsed;
  return JSON.stringify({ version: 3, file: "server.mjs", sources, names: [], mappings: ";".repeat(lines) + mappings });
}

function readDist(name: string): string {
  const file = distFile(name);
  if (!existsSync(file)) throw new Error(`${file} is missing: build @cursor/bdk first (node scripts/build.mjs)`);
  return readFileSync(file, "utf8");
}
