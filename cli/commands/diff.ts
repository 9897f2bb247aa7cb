import { type Change, countLevels } from "../../compiler/diff/change.js";
import type { Manifest } from "../../runtime/manifest/schema.js";
import { readSide, type SideOptions } from "../diff/side.js";
import { exit, usageFailure } from "../exit.js";
import type { Run } from "../index.js";
import { projectFolder } from "../project.js";
import { writeDiagnostics } from "../ui/diagnostics.js";
import type { Terminal } from "../ui/terminal.js";

export const run: Run<"diff"> = async ({ args, options }, terminal) => {
  if (options.json && options.markdown) {
    throw usageFailure("optionsExclude", { message: "--json and --markdown exclude each other", help: "choose one" });
  }
  const sideOptions: SideOptions = {
    project: projectFolder(options.dir),
    ...(options.manifest === undefined ? {} : { committed: options.manifest }),
    terminal,
    silent: options.json || options.markdown,
  };
  const [older = "", newer = "."] = args;
  const before = await readSide(older, sideOptions);
  const after = await readSide(newer, sideOptions);
  await writeDiagnostics(terminal.err, [...before.warnings, ...after.warnings], undefined);
  const { diff } = await import("../../compiler/diff/diff.js");
  const changes = diff(only(before.manifest, options.slug), only(after.manifest, options.slug));
  if (options.slug !== undefined) checkSlug(options.slug, before.manifest, after.manifest);
  await terminal.out.write(await render(changes, options, terminal));
  return isGrave(changes, options["fail-on"]) ? exit.failed : exit.ok;
};

function only(manifest: Manifest, slug: string | undefined): Manifest {
  return slug === undefined
    ? manifest
    : { ...manifest, agents: manifest.agents.filter((agent) => agent.slug === slug) };
}

function checkSlug(slug: string, before: Manifest, after: Manifest): void {
  const slugs = [...new Set([...before.agents, ...after.agents].map((agent) => agent.slug))].sort();
  if (slugs.includes(slug)) return;
  throw usageFailure("chooseAgent", {
    message: `neither side has an agent "${slug}"`,
    help: `one of ${slugs.join(", ")}`,
  });
}

interface Format {
  readonly json: boolean;
  readonly markdown: boolean;
  readonly text: boolean;
}

async function render(changes: readonly Change[], format: Format, terminal: Terminal): Promise<string> {
  if (format.json) return (await import("../../compiler/diff/render/json.js")).renderJson(changes);
  if (format.markdown) {
    return (await import("../../compiler/diff/render/markdown.js")).renderMarkdown(changes, { textDiffs: format.text });
  }
  const { renderTerminal } = await import("../../compiler/diff/render/terminal.js");
  return renderTerminal(changes, { colour: terminal.out.colors.isColorSupported, textDiffs: format.text });
}

/** Whether the changes reach the level that `--fail-on` names; each level includes the graver ones. */
function isGrave(changes: readonly Change[], failOn: "breaking" | "risky" | "any" | undefined): boolean {
  const { breaking, risky } = countLevels(changes);
  switch (failOn) {
    case "breaking":
      return breaking > 0;
    case "risky":
      return breaking + risky > 0;
    case "any":
      return changes.length > 0;
    case undefined:
      return false;
  }
}
