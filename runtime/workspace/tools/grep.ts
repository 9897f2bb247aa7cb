import type { JsonValue } from "../../session/event.js";
import { atFile, type HeldFolder, isFolder, openToRead, shownPath } from "./contained.js";
import { decodeText, maxFileBytes } from "./contents.js";
import { flag, integer, optional, text } from "./fields.js";
import { compileGlob } from "./glob-pattern.js";
import { createLineSearch, type LineSearch } from "./line-search.js";
import { ToolFailure, workspaceTool } from "./tool.js";
import { walk } from "./walk.js";

const defaultLimit = 100;
const maxLimit = 1_000;
/** Most characters of a line that are shown. */
const maxLine = 500;

export const grep = workspaceTool({
  name: "grep",
  description:
    "Searches the text files of the working directory line by line with a JavaScript regular expression. " +
    "node_modules and .git are passed over unless path names them.",
  effect: "read",
  input: {
    pattern: text("The regular expression, such as function\\s+\\w+."),
    path: optional(text("File or folder to search, relative to the working directory. Default: the directory itself.")),
    glob: optional(text("Searches only files whose path fits, such as *.ts or src/**/*.md.")),
    literal: optional(flag("Takes the pattern as the text itself. Default false.")),
    ignoreCase: optional(flag("Default false.")),
    context: optional(integer("Lines to show before and after each match. Default 0.", 0, 20)),
    limit: optional(integer(`Most matches. Default ${defaultLimit}.`, 1, maxLimit)),
  },
  async run({ pattern, path = ".", glob, literal = false, ignoreCase = false, context = 0, limit }, { root, signal }) {
    const search = createLineSearch(literal ? escapePattern(pattern) : pattern, ignoreCase);
    const fits = glob === undefined ? () => true : compileGlob(glob);
    const most = limit ?? defaultLimit;
    const matches: JsonValue[] = [];
    const look = async (folder: HeldFolder, name: string, shown: string) => {
      const contents = await textOf(folder, name, shown);
      if (contents !== undefined) matches.push(...matchesOf(shown, contents, search, context, most - matches.length));
      return matches.length < most;
    };
    if (!(await isFolder(root, path))) {
      const isWhole = await atFile(root, path, (folder, name) =>
        look(folder, name, shownPath(root, `${folder.real}/${name}`)),
      );
      return answer(matches, isWhole);
    }
    const isWhole = await walk(
      root,
      path,
      signal,
      (file) => !fits(file.path) || look(file.folder, file.name, file.path),
    );
    return answer(matches, isWhole);
  },
});

function answer(matches: readonly JsonValue[], isWhole: boolean): JsonValue {
  return { matches, ...(isWhole ? {} : { truncated: true }) };
}

function escapePattern(pattern: string): string {
  return pattern.replaceAll(/[\\^$.*+?()[\]{}|/]/g, (character) => `\\${character}`);
}

/** The text of a file; nothing when it is no text, too large, or gone. */
async function textOf(folder: HeldFolder, name: string, shown: string): Promise<string | undefined> {
  try {
    const { handle, facts } = await openToRead(folder, name, shown);
    try {
      return facts.size > maxFileBytes ? undefined : decodeText(await handle.readFile());
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof ToolFailure) return undefined; // closed to us, or gone since the folder was listed
    throw error;
  }
}

function matchesOf(
  path: string,
  contents: string,
  search: LineSearch,
  context: number,
  limit: number,
): readonly JsonValue[] {
  const lines = contents.split("\n");
  const shown = (from: number, to: number) => lines.slice(Math.max(from, 0), to).map(cut);
  return search(lines, limit).map((at) => ({
    path,
    line: at + 1,
    text: cut(lines[at] ?? ""),
    ...(context === 0 ? {} : { before: shown(at - context, at), after: shown(at + 1, at + 1 + context) }),
  }));
}

function cut(line: string): string {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  return text.length > maxLine ? `${text.slice(0, maxLine)}… (${text.length} characters)` : text;
}
