import { hasErrors } from "../../compiler/diagnostics/diagnostic.js";
import { agentInfo } from "../../runtime/host/info.js";
import type { AgentManifest } from "../../runtime/manifest/schema.js";
import { compileProject } from "../compile-project.js";
import { CommandFailure, exit, usageFailure } from "../exit.js";
import type { Run } from "../index.js";
import { infoDiagnostics } from "../info/diagnostics.js";
import { renderInfo } from "../info/render.js";
import { explainWhy, renderWhy, suggestId } from "../info/why.js";
import { projectFolder } from "../project.js";
import { writeDiagnostics } from "../ui/diagnostics.js";
import { type Terminal, writeJson } from "../ui/terminal.js";

export const run: Run<"info"> = async ({ options }, terminal) => {
  const root = projectFolder(options.dir);
  const { manifest, diagnostics } = await compileProject(
    root,
    // As a build sees it: what a bot consists of can be asked without its secrets.
    { environment: "build", until: "manifest" },
    terminal,
    options.json,
  );
  if (manifest === undefined || hasErrors(diagnostics)) throw new CommandFailure(exit.failed, diagnostics, root);
  const wanted = manifest.agents.filter((agent) => options.slug === undefined || agent.slug === options.slug);
  if (wanted.length === 0) {
    throw usageFailure("chooseAgent", {
      message: `there is no agent "${options.slug}" in ${root}`,
      help: `there is ${manifest.agents.map((agent) => agent.slug).join(", ")}`,
    });
  }
  if (options.why !== undefined) return tellWhy(wanted, options.why, options.json, terminal);
  const agents = wanted.map((agent) => agentInfo(agent, infoDiagnostics(diagnostics)));
  if (options.json) await writeJson(terminal.out, { agents });
  else {
    await terminal.out.write(renderInfo(agents, manifest, terminal.out));
    await writeDiagnostics(terminal.err, diagnostics, root);
  }
  return exit.ok;
};

async function tellWhy(
  agents: readonly AgentManifest[],
  name: string,
  json: boolean,
  terminal: Terminal,
): Promise<number> {
  const answers = agents.flatMap((agent) => explainWhy(agent, name));
  if (answers.length === 0) {
    const near = suggestId(agents, name);
    throw usageFailure("badArgument", {
      message: `there is no "${name}"`,
      help: near === undefined ? "bdk info lists what there is" : `did you mean ${near}?`,
    });
  }
  if (json) await writeJson(terminal.out, { why: answers });
  else await terminal.out.write(renderWhy(answers, terminal.out));
  return exit.ok;
}
