import path from "node:path";
import type { ProjectCode } from "./project-code.js";

const mention = /__bdk\.meta\("([^"\n]+)"\)/g;

/**
 * Folders below `assets/` that have to be there though nothing is kept in them: those of modules that look for files from
 * their own place. `${dirname}/../data/x` leads nowhere from a folder that does not exist.
 */
export function bareFolders({ text, beside }: Pick<ProjectCode, "text" | "beside">): readonly string[] {
  if (beside.length === 0) return [];
  const folders = new Set([...text.matchAll(mention)].map(([, key = ""]) => path.posix.dirname(unescaped(key))));
  return [...folders]
    .filter((folder) => folder !== "." && !folder.startsWith(".."))
    .filter((folder) => !beside.some((each) => each.path.startsWith(`${folder}/`)))
    .sort();
}

/** A name as it was before the linker printed it in ASCII. */
function unescaped(key: string): string {
  return key.replaceAll(/\\x([\da-f]{2})|\\u([\da-f]{4})|\\u\{([\da-f]+)\}/gi, (_, ...digits: (string | undefined)[]) =>
    String.fromCodePoint(Number.parseInt(digits.slice(0, 3).find((each) => each !== undefined) ?? "", 16)),
  );
}
