import { isAbsolute, relative, resolve } from "node:path";
import type { Problem } from "../protocol.js";

/**
 * What an extension brings is read from beside the module that defines it (decision 0009), before anything runs. A `root`
 * that says otherwise would be obeyed by nobody.
 *
 * @param value What the mount or the package exports.
 * @param folder Absolute folder of the module that calls `defineExtension`.
 */
export function checkRoot(value: unknown, folder: string): readonly Problem[] {
  const given =
    typeof value === "function" || (typeof value === "object" && value !== null) ? rootOf(value) : undefined;
  if (typeof given !== "string" || (isAbsolute(given) && resolve(given) === folder)) return [];
  return [
    {
      code: "extensionRoot",
      path: "root",
      message: `root is ${told(given, folder)}, but what an extension brings is read from beside its own module`,
      help: "write `root: import.meta.dirname`, and keep tools/, skills/ and the others beside that module",
    },
  ];
}

function rootOf(value: object): unknown {
  return "root" in value ? value.root : undefined;
}

/** As the module sees it: a path of the build's own temporary folder would help nobody. */
function told(root: string, folder: string): string {
  if (!isAbsolute(root)) return JSON.stringify(root);
  const from = relative(folder, root);
  return from.startsWith("../../..") ? "another folder" : `"${from}" as seen from its module`;
}
