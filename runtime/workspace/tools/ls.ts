import { lstat, readdir } from "node:fs/promises";
import { inFolder, isAbsent } from "./contained.js";
import { optional, text } from "./fields.js";
import { workspaceTool } from "./tool.js";

const maxEntries = 1_000;

export const ls = workspaceTool({
  name: "ls",
  description: "Lists one folder of the working directory: folders end in /, files come with their size in bytes.",
  effect: "read",
  input: {
    path: optional(text("Path of the folder, relative to the working directory. Default: the directory itself.")),
  },
  async run({ path = "." }, { root }) {
    return inFolder(root, path, async (folder) => {
      const found = await readdir(folder.entry("."), { withFileTypes: true });
      const sorted = found.sort((left, right) => (left.name < right.name ? -1 : 1));
      const entries = [];
      for (const each of sorted.slice(0, maxEntries)) {
        if (each.isDirectory()) entries.push({ name: `${each.name}/` });
        else if (each.isSymbolicLink()) entries.push({ name: each.name, type: "link" });
        else entries.push({ name: each.name, ...(await sizeOf(folder.entry(each.name))) });
      }
      return { path, entries, ...(found.length > maxEntries ? { more: found.length - maxEntries } : {}) };
    });
  },
});

/** A file may go while its folder is listed. */
async function sizeOf(file: string): Promise<{ readonly bytes?: number }> {
  try {
    return { bytes: (await lstat(file)).size };
  } catch (error) {
    if (isAbsent(error)) return {};
    throw error;
  }
}
