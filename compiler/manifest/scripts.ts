/** Links each tool with `execution: "agent"` into a script of its own: nothing else of the project goes where it runs. */
import { existsSync, readFileSync } from "node:fs";
import { projectClosing, projectOpening } from "../../runtime/manifest/project-scope.js";
import { type Diagnostic, diagnostic, type Result } from "../diagnostics/diagnostic.js";
import type { Evaluated } from "../evaluate/evaluate.js";
import { type CodeDefinition, codeDefinitions, linkedMounts } from "../evaluate/modules.js";
import { createLinker } from "../link/link.js";
import { distFile } from "../link/package-folder.js";
import type { Surface } from "../resolve/surface.js";

/** Text of an agent tool's script, by slug and entry id. */
export type Scripts = (slug: string, id: string) => string | undefined;

export async function linkScripts(
  surfaces: readonly Surface[],
  evaluated: Evaluated,
  root: string,
): Promise<Result<Scripts>> {
  const all = codeDefinitions(surfaces, root, new Set());
  const tools = all.filter(({ slug, id }) => evaluated.facts(slug, id)?.execution === "agent");
  const texts = new Map<string, string>();
  const diagnostics: Diagnostic[] = [];
  for (const tool of tools) {
    const linked = await linkOne(tool, all, surfaces, root);
    diagnostics.push(...linked.diagnostics);
    if (linked.value !== undefined) texts.set(keyOf(tool.slug, tool.id), linked.value);
  }
  return { value: (slug, id) => texts.get(keyOf(slug, id)), diagnostics };
}

async function linkOne(
  tool: CodeDefinition,
  all: readonly CodeDefinition[],
  surfaces: readonly Surface[],
  root: string,
): Promise<Result<string | undefined>> {
  const linker = createLinker({ root });
  try {
    linker.mount(linkedMounts(surfaces));
    const needed = all.filter(({ slug, module }) => slug === tool.slug && module.file === tool.module.needs);
    const { value, diagnostics } = await linker.link([...needed.map(({ module }) => module), tool.module]);
    if (value === undefined) return { value: undefined, diagnostics };
    const outside = [
      ...value.code.externals.map(({ name }) => `the package ${name}`),
      ...value.code.beside.map(({ path }) => path),
    ];
    if (outside.length > 0) return { value: undefined, diagnostics: [needsMore(tool, outside)] };
    // What the linker has to say of these modules it said when it linked the whole project.
    return { value: printScript(tool, value.code.text), diagnostics: [] };
  } finally {
    await linker.close();
  }
}

function needsMore({ winner }: CodeDefinition, outside: readonly string[]): Diagnostic {
  return diagnostic("scriptNeedsMore", {
    message: `the tool "${winner.name}" runs as one script, and needs ${outside.join(", ")} beside it`,
    at: winner.span,
    help: 'do without, or leave out execution: "agent" so that it runs in the server',
  });
}

function printScript({ slug, id }: CodeDefinition, text: string): string {
  const runner = distFile("runtime/agent-tool.js");
  if (!existsSync(runner)) throw new Error(`${runner} is missing: build @cursor/bdk first (node scripts/build.mjs)`);
  return `import { createRequire } from "node:module";
const __bdkUrl = import.meta.url;
const __bdkModule = { exports: {} };
((module, exports, require) => {
${readFileSync(runner, "utf8")}
})(__bdkModule, __bdkModule.exports, createRequire(__bdkUrl));
await __bdkModule.exports.runTool({
  url: __bdkUrl,
  slug: ${JSON.stringify(slug)},
  id: ${JSON.stringify(id)},
  project: (__bdk) => {${projectOpening}
${text}${projectClosing}},
});
`;
}

function keyOf(slug: string, id: string): string {
  return `${slug}\0${id}`;
}
