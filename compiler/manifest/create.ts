/** Phase 5: the manifest, version 1. Pure: the same surfaces and facts give the same bytes. */
import type { Manifest } from "../../runtime/manifest/schema.js";
import type { Diagnostic, Result } from "../diagnostics/diagnostic.js";
import type { Evaluated } from "../evaluate/evaluate.js";
import { packageVersion } from "../link/package-folder.js";
import type { Surface } from "../resolve/surface.js";
import type { ProjectSource } from "../source.js";
import { createAgent } from "./agent.js";
import { sha256, sortKeys } from "./canonical.js";
import { createCodeHash } from "./code-hash.js";
import { createFileStore } from "./files.js";
import type { Scripts } from "./scripts.js";

/** Phase 5's value. */
export interface CreatedManifest {
  readonly manifest: Manifest;
  /** By slug, then sha256: base64 bytes of seeds and skill siblings. */
  readonly blobs: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** Builds the manifest with sorted keys and its hash. */
export function createManifest(
  surfaces: readonly Surface[],
  evaluated: Evaluated,
  source: ProjectSource,
  scripts: Scripts,
): Result<CreatedManifest> {
  const diagnostics: Diagnostic[] = [];
  const blobs: Record<string, Readonly<Record<string, string>>> = {};
  const codeHash = createCodeHash(evaluated.linked, source.root);
  const agents = surfaces.map((surface) => {
    const files = createFileStore(source);
    const agent = createAgent(surface, evaluated, { files, scripts, codeHash });
    blobs[surface.slug] = files.blobs();
    diagnostics.push(...files.problems);
    return agent;
  });
  const { code } = evaluated.linked;
  const content = sortKeys({
    manifestVersion: 1 as const,
    bdk: packageVersion,
    agents,
    env: { required: [...evaluated.env.required], read: [...evaluated.env.read] },
    externals: code.externals.map(({ name, version, reason }) => ({ name, version, reason })),
  });
  const hash = `sha256:${sha256(`${JSON.stringify(content)}\0${code.text}`)}`;
  const { manifestVersion, ...before } = content;
  return { value: { manifest: { ...before, hash, manifestVersion }, blobs }, diagnostics };
}
