import { readFileSync } from "node:fs";
import { MANIFEST_VERSION, type Manifest, manifest as manifestSchema } from "../../runtime/manifest/schema.js";
import { usageFailure } from "../exit.js";

/** Reads a manifest file, such as `dist/manifest.json`. */
export function readManifestFile(file: string): Manifest {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw usageFailure("badManifest", { message: `cannot read ${file}: ${messageOf(error)}` });
  }
  return parseManifest(text, file);
}

/**
 * The manifest in a text. Fields that this version does not know are kept: the comparison reports them too.
 *
 * @param origin what to call the text in messages
 */
export function parseManifest(text: string, origin: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw usageFailure("badManifest", {
      message: `${origin} is not JSON: ${messageOf(error)}`,
      help: "pass a manifest.json that bdk build or bdk manifest wrote",
    });
  }
  refuseNewer(value, origin);
  const parsed = manifestSchema.safeParse(value);
  if (!parsed.success) {
    throw usageFailure("badManifest", {
      message: `${origin} is no manifest of bdk`,
      help: "pass a manifest.json that bdk build or bdk manifest wrote",
      notes: parsed.error.issues.slice(0, 5).map((issue) => `${issue.path.join(".") || "the file"}: ${issue.message}`),
    });
  }
  return value as Manifest; // the schema has just accepted it; its copy would drop unknown fields
}

function refuseNewer(value: unknown, origin: string): void {
  if (typeof value !== "object" || value === null || !("manifestVersion" in value)) return;
  const { manifestVersion: version } = value;
  if (typeof version !== "number" || version <= MANIFEST_VERSION) return;
  throw usageFailure("newerManifest", {
    message: `${origin} is a manifest of version ${version}; this bdk reads up to ${MANIFEST_VERSION}`,
    help: "update @cursor/bdk, or build that side with this one",
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
