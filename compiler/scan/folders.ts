/** Shapes where a folder is an entry: skills with siblings, subagents, mounts with overlays. */
import { diagnostic } from "../diagnostics/diagnostic.js";
import { joinPath, type SourceEntry } from "../source.js";
import { collectAssets } from "./assets.js";
import { isSkipped, stemOf } from "./files.js";
import { type Found, gather, nothing } from "./found.js";
import { scanLayer } from "./layer.js";
import { accept, entryOf, folderOf, misfit, type Place, report, startOf } from "./place.js";

/** `skills/<name>/SKILL.md` and its siblings. */
export function collectSkillFolder(place: Place, child: SourceEntry, folder: string): Found {
  const main = joinPath(folder, "SKILL.md");
  const below = collectAssets(place, folder, "");
  if (place.source.typeOf(main) === "file") {
    const files = below.entries.map((entry) => entry.file).filter((file) => file !== main);
    return { ...below, entries: [{ ...entryOf(place, child.name, main), files }] };
  }
  const near = below.entries.find((entry) => /^(skill|readme|index)\.mdx?$/i.test(entry.name));
  return report(
    diagnostic("skillFileMissing", {
      message: `the skill "${child.name}" has no SKILL.md`,
      at: startOf(near?.file ?? folder),
      help: near === undefined ? `create ${main} with a description` : `rename ${near.file} to SKILL.md`,
    }),
  );
}

/** `subagents/<id>/agent.ts`, and what else the table lets a subagent bring. */
export function collectSubagents(place: Place): Found {
  const folder = folderOf(place);
  return gather(
    place.source.list(folder).map((child) => {
      const file = joinPath(folder, child.name);
      if (isSkipped(child.name)) return nothing;
      if (child.type !== "folder") return reportLooseSubagent(place, child, file);
      const { dir: _, ...origin } = place.root;
      const inner = scanLayer(place.source, { ...origin, dir: file, contributor: "subagent", subagent: child.name });
      const main = inner.entries.find((entry) => entry.kind === "agent");
      if (main === undefined) {
        const message = `the subagent "${child.name}" has no agent.ts`;
        const help = `create ${file}/agent.ts: export default defineAgent({ description: "…" })`;
        const missing = report(diagnostic("subagentFileMissing", { message, at: startOf(file), help }));
        return gather([{ ...inner, entries: [] }, missing]);
      }
      const rest = inner.entries.filter((entry) => entry.kind !== "agent");
      return { ...inner, entries: [entryOf(place, child.name, main.file), ...rest] };
    }),
  );
}

function reportLooseSubagent(place: Place, child: SourceEntry, file: string): Found {
  const name = stemOf(child.name, [...place.slot.endings, ".md"]);
  if (name === undefined) return misfit(place, child, file);
  const message = `${file} is not discovered: a subagent is a folder`;
  const help = `move it to ${folderOf(place)}/${name}/agent.ts`;
  return report(diagnostic("misplacedFile", { message, at: startOf(file), help, severity: "error" }));
}

/** `extensions/<ns>/extension.ts`, with overlays beneath it. */
export function collectMount(place: Place, child: SourceEntry, folder: string): Found {
  const main = place.source.list(folder).find((each) => stemOf(each.name, place.slot.endings) === "extension");
  const overlays = scanLayer(place.source, {
    dir: folder,
    scope: "base",
    contributor: "extension",
    layer: "overlay",
    mount: child.name,
    claimed: main === undefined ? [] : [main.name],
  });
  if (main !== undefined) return gather([accept(place, main, child.name, joinPath(folder, main.name)), overlays]);
  const message = `the mount "${child.name}" has no extension.ts`;
  const help = `create ${folder}/extension.ts that default-exports the extension; the files beside it are its overlays`;
  return gather([report(diagnostic("mountFileMissing", { message, at: startOf(folder), help })), overlays]);
}
