import { optional, text } from "./fields.js";
import { compileGlob } from "./glob-pattern.js";
import { workspaceTool } from "./tool.js";
import { walk } from "./walk.js";

const maxFiles = 1_000;

export const glob = workspaceTool({
  name: "glob",
  description:
    "Finds files of the working directory by name: *.md (in any folder), src/**/*.{ts,tsx}, docs/[a-c]*. " +
    "node_modules and .git are passed over unless path names them.",
  effect: "read",
  input: {
    pattern: text("The pattern, matched against paths relative to path."),
    path: optional(text("Folder to search, relative to the working directory. Default: the directory itself.")),
  },
  async run({ pattern, path = "." }, { root, signal }) {
    const fits = compileGlob(pattern);
    const prefix = path === "." ? "" : `${path.replace(/^\.\//, "").replace(/\/+$/, "")}/`;
    const files: string[] = [];
    const isWhole = await walk(root, path, signal, (file) => {
      const relative = file.path.startsWith(prefix) ? file.path.slice(prefix.length) : file.path;
      if (fits(relative)) files.push(file.path);
      return files.length < maxFiles;
    });
    return { files, ...(isWhole ? {} : { truncated: true }) };
  },
});
