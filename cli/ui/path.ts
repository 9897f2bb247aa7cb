import { relative } from "node:path";

/** A path as a person in the working directory would write it: relative below it, else absolute. */
export function shortPath(path: string): string {
  const below = relative(process.cwd(), path);
  if (below === "") return ".";
  return below.startsWith("..") ? path : below;
}
