import type { JsonValue } from "../../session/event.js";
import { atFile } from "./contained.js";
import { decodeText, readBytes } from "./contents.js";
import { integer, optional, text } from "./fields.js";
import { ToolFailure, workspaceTool } from "./tool.js";

/** Most that one call gives. */
const maxLines = 2_000;
const maxCharacters = 100_000;
/** Largest picture that is shown, in bytes. */
const maxImageBytes = 3_750_000;

export const read = workspaceTool({
  name: "read",
  description:
    `Reads a file of the working directory. Text comes ${maxLines} lines at a time: give offset to read on. ` +
    "Pictures (PNG, JPEG, GIF, WebP) are shown.",
  effect: "read",
  input: {
    path: text("Path of the file, relative to the working directory."),
    offset: optional(integer("First line to read, from 1. Default 1.", 1, 100_000_000)),
    limit: optional(integer(`How many lines. Default ${maxLines}.`, 1, maxLines)),
  },
  async run({ path, offset = 1, limit = maxLines }, { root }) {
    const bytes = await atFile(root, path, (folder, name) => readBytes(folder, name, path));
    const contents = decodeText(bytes);
    return contents === undefined ? showImage(path, bytes) : page(path, contents, offset, limit);
  },
});

function page(path: string, contents: string, offset: number, limit: number): JsonValue {
  const lines = contents.split("\n");
  if (lines.at(-1) === "") lines.pop();
  if (offset > Math.max(lines.length, 1)) {
    throw new ToolFailure(`"${path}" has ${lines.length} lines; there is no line ${offset}.`);
  }
  const shown: string[] = [];
  let characters = 0;
  for (const line of lines.slice(offset - 1, offset - 1 + limit)) {
    characters += line.length + 1;
    if (characters > maxCharacters && shown.length > 0) break;
    shown.push(line.length > maxCharacters ? `${line.slice(0, maxCharacters)}… (${line.length} characters)` : line);
  }
  const last = offset - 1 + shown.length;
  const whole = { path, text: shown.join("\n"), lines: lines.length };
  if (offset === 1 && last >= lines.length) return whole;
  return { ...whole, from: offset, to: last, ...(last < lines.length ? { next: last + 1 } : {}) };
}

const signatures: readonly (readonly [mimeType: string, at: number, bytes: string])[] = [
  ["image/png", 0, "89504e47"],
  ["image/jpeg", 0, "ffd8ff"],
  ["image/gif", 0, "47494638"],
  ["image/webp", 8, "57454250"],
];

function showImage(path: string, bytes: Buffer): JsonValue {
  const found = signatures.find(([, at, start]) => bytes.subarray(at, at + start.length / 2).toString("hex") === start);
  if (found === undefined)
    throw new ToolFailure(`"${path}" is not text: it has ${bytes.length} bytes of another kind.`);
  if (bytes.length > maxImageBytes) {
    throw new ToolFailure(`"${path}" has ${bytes.length} bytes; a picture can have ${maxImageBytes} at most.`);
  }
  return { content: [{ type: "image", data: bytes.toString("base64"), mimeType: found[0] }] };
}
