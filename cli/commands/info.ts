import { hasErrors } from "../../compiler/diagnostics/diagnostic.js";
import { agentInfo } from "../../runtime/host/info.js";
import { compileProject } from "../compile-project.js";
import { CommandFailure, exit, usageFailure } from "../exit.js";
import type { Run } from "../index.js";
import { infoDiagnostics } from "../info/diagnostics.js";
import { renderInfo } from "../info/render.js";
import { projectFolder } from "../project.js";
import { writeDiagnostics } from "../ui/diagnostics.js";
import { writeJson } from "../ui/terminal.js";

export const run: Run<"info"> = async ({ options }, terminal) => {
  const root = projectFolder(options.dir);
  const { manifest, diagnostics } = await compileProject(
    root,
    { environment: "strict", until: "manifest" },
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
  const agents = wanted.map((agent) => agentInfo(agent, infoDiagnostics(diagnostics)));
  if (options.json) await writeJson(terminal.out, { agents });
  else {
    await terminal.out.write(renderInfo(agents, manifest, terminal.out));
    await writeDiagnostics(terminal.err, diagnostics, root);
  }
  return exit.ok;
};
