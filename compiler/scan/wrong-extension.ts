import { type Diagnostic, diagnostic } from "../diagnostics/diagnostic.js";
import { labelOf, type Slot } from "../slots.js";

const script = /\.[cm]?[jt]sx?$/;
const text = /\.(txt|mdx?|mdc|markdown)$/;

/** The diagnostic for a file with an ending that its slot does not take. */
export function wrongExtension(slot: Slot, file: string): Diagnostic {
  const documented = slot.endings[0] ?? "";
  const wanted = script.test(file) ? ".ts" : documented;
  const isRename = wanted === ".ts" ? script.test(file) : text.test(file);
  const target = file.replace(/\.[^./]+$/, wanted);
  return diagnostic("wrongExtension", {
    message: `${file} is not discovered: ${labelOf(slot)} takes ${slot.endings.join(", ")}`,
    at: { file, line: 1, column: 1 },
    help: isRename ? `rename it to ${target}` : `write it as ${target}, or move it to lib/ if it is data`,
  });
}
