import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { codes } from "../../compiler/diagnostics/codes.js";
import { suggest } from "../../compiler/diagnostics/suggest.js";
import { exit, usageFailure } from "../exit.js";
import type { Run } from "../index.js";
import { ownPackage } from "../package-root.js";
import type { Colors } from "../ui/sink.js";
import { writeJson } from "../ui/terminal.js";

export const run: Run<"explain"> = async ({ args, options }, { out }) => {
  const asked = (args[0] ?? "").toUpperCase();
  const wanted = /^\d{4}$/.test(asked) ? `BDK${asked}` : asked;
  const entry = Object.values(codes).find((each) => each.code === wanted);
  if (entry === undefined) {
    const close = suggest(
      wanted,
      Object.values(codes).map((each) => each.code),
    );
    throw usageFailure("unknownCode", {
      message: `there is no code "${args[0]}"`,
      help: close === undefined ? "codes look like BDK2003; bdk validate prints them" : `did you mean ${close}?`,
    });
  }
  const page = await readFile(join(ownPackage().root, "docs/reference/errors", `${entry.code}.md`), "utf8");
  if (options.json) await writeJson(out, { ...entry, page });
  else await out.write(paint(page, out.colors));
  return exit.ok;
};

/** Markdown for a terminal: headings bold, code dim; the text stays as it is. */
function paint(page: string, { bold, cyan }: Colors): string {
  let isCode = false;
  const lines = page
    .trimEnd()
    .split("\n")
    .map((line) => {
      if (line.startsWith("```")) isCode = !isCode;
      if (isCode || line.startsWith("```")) return cyan(line);
      return line.startsWith("#") ? bold(line) : line;
    });
  return `${lines.join("\n")}\n`;
}
