import { atFile } from "./contained.js";
import { decodeText, readBytes, replaceContents } from "./contents.js";
import { anyText, flag, optional, text } from "./fields.js";
import { ToolFailure, workspaceTool } from "./tool.js";

export const edit = workspaceTool({
  name: "edit",
  description:
    "Replaces a piece of text in a file of the working directory. The piece must stand in the file exactly once, white " +
    "space included; take in lines around it to make it unique, or set all.",
  effect: "write",
  input: {
    path: text("Path of the file, relative to the working directory."),
    old: text("The text to replace, exactly as it stands in the file."),
    new: anyText("What takes its place."),
    all: optional(flag("Replaces every occurrence. Default false.")),
  },
  async run({ path, old, new: next, all = false }, { root }) {
    if (old === next) throw new ToolFailure("old and new are the same; nothing would change.");
    return atFile(root, path, async (folder, name) => {
      const contents = decodeText(await readBytes(folder, name, path));
      if (contents === undefined) throw new ToolFailure(`"${path}" is not text and can't be edited.`);
      const found = contents.split(old).length - 1;
      if (found === 0) throw new ToolFailure(absent(path, contents, old));
      if (found > 1 && !all) {
        throw new ToolFailure(`The text stands ${found} times in "${path}". Take in more lines around it, or set all.`);
      }
      await replaceContents(folder, name, path, contents.split(old).join(next));
      return { path, replaced: found };
    });
  },
});

/** Says what comes close, so that the next try is a better one. */
function absent(path: string, contents: string, old: string): string {
  const message = `The text does not stand in "${path}".`;
  if (contents.includes("\r\n") && contents.replaceAll("\r\n", "\n").includes(old.replaceAll("\r\n", "\n"))) {
    return `${message} Its lines end in \\r\\n.`;
  }
  const loose = (text: string) => text.replaceAll(/\s+/g, " ").trim();
  const isClose = loose(old) !== "" && loose(contents).includes(loose(old));
  return isClose
    ? `${message} It does with other white space: read the file and copy it exactly.`
    : `${message} Read it first.`;
}
