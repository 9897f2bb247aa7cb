import { atNewFile } from "./contained.js";
import { replaceContents } from "./contents.js";
import { anyText, text } from "./fields.js";
import { workspaceTool } from "./tool.js";

export const write = workspaceTool({
  name: "write",
  description:
    "Writes a whole file of the working directory. Missing folders are made; a file that is there is replaced.",
  effect: "write",
  input: {
    path: text("Path of the file, relative to the working directory."),
    text: anyText("The file's whole contents."),
  },
  async run({ path, text }, { root }) {
    const { isNew } = await atNewFile(root, path, (folder, name) => replaceContents(folder, name, path, text));
    return { path, bytes: Buffer.byteLength(text), created: isNew };
  },
});
