import path from "node:path";
import { diskSource, SourceError } from "../source.js";

/** A package on disk, as far as mounts need to know it. */
export interface FoundPackage {
  readonly name: string;
  readonly version?: string;
  /** Absolute folder of its package.json. */
  readonly dir: string;
  /** `bdk.extension` of its package.json: the contract that it was built for. */
  readonly contract?: unknown;
}

/** The contract between extensions and this version. A package says its own as `"bdk": { "extension": 1 }`. */
export const extensionContract = 1;

/** The nearest folder, from this one up, whose package.json has a name. */
export function packageAbove(folder: string): FoundPackage | undefined {
  for (let dir = folder; ; dir = path.dirname(dir)) {
    const found = readPackage(dir);
    if (found !== undefined) return found;
    if (dir === path.dirname(dir)) return undefined;
  }
}

function readPackage(dir: string): FoundPackage | undefined {
  const source = diskSource(dir);
  if (source.typeOf("package.json") !== "file") return undefined;
  try {
    const manifest: unknown = JSON.parse(source.readText("package.json"));
    if (typeof manifest !== "object" || manifest === null) return undefined;
    const { name, version, bdk } = manifest as Readonly<Record<"name" | "version" | "bdk", unknown>>;
    if (typeof name !== "string" || name === "") return undefined;
    return {
      name,
      dir,
      ...(typeof version === "string" ? { version } : {}),
      ...(typeof bdk === "object" && bdk !== null && "extension" in bdk ? { contract: bdk.extension } : {}),
    };
  } catch (error) {
    // Whoever needs the file for what it is says what is wrong with it.
    if (error instanceof SyntaxError || error instanceof SourceError) return undefined;
    throw error;
  }
}
