import { existsSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { exit, usageFailure } from "../exit.js";
import type { Run } from "../index.js";
import { extensionFiles } from "../init/extension-template.js";
import { projectFiles } from "../init/template.js";
import { checkTarget, dependencyOn, packageName, projectName, writeFiles } from "../init/write.js";
import { ownPackage } from "../package-root.js";
import { shortPath } from "../ui/path.js";
import { type Terminal, writeJson } from "../ui/terminal.js";

const defaultModel = "grok-4.5";

export const run: Run<"init"> = async ({ args, options }, terminal) => {
  const { out } = terminal;
  const answers = await askWhatIsMissing(
    args[0],
    options.extension ? defaultModel : options.model,
    terminal,
    options.json,
  );
  if (answers === undefined) {
    await terminal.err.line("nothing written");
    return exit.usage;
  }
  const target = resolve(answers.dir);
  if (existsSync(target) && !statSync(target).isDirectory()) {
    throw usageFailure("wouldOverwrite", { message: `${target} is a file`, help: "choose another folder" });
  }
  // A folder that is written like a package's name with its scope is meant as one.
  const scoped = options.extension && /^@[^/]+\/[^/]+$/.test(answers.dir) ? answers.dir : undefined;
  const words = options.name ?? scoped ?? basename(target);
  const name = options.extension ? packageName(words) : projectName(words);
  const own = ownPackage();
  const dependency = dependencyOn(own, target);
  const files = options.extension
    ? extensionFiles({ name, dependency, version: own.version })
    : projectFiles({ name, model: answers.model, dependency });
  checkTarget(target, files.keys(), options.force);
  if (!options["dry-run"]) await writeFiles(target, files);

  const written = [...files.keys()];
  if (options.json) {
    await writeJson(out, {
      ok: true,
      dir: target,
      name,
      ...(options.extension ? { extension: true } : { model: answers.model }),
      dependency,
      dryRun: options["dry-run"],
      files: written,
    });
    return exit.ok;
  }
  const { bold, dim, cyan, green } = out.colors;
  const shown = shortPath(target);
  await out.line(
    options["dry-run"] ? `would write to ${bold(shown)}:` : `${green("created")} ${bold(name)} in ${bold(shown)}`,
  );
  for (const path of written) await out.line(`  ${dim(path)}`);
  if (options["dry-run"]) return exit.ok;
  if (dependency.startsWith("file:")) {
    await out.line(
      `\nbdk runs from a source checkout, so package.json links it: ${dim(`"@cursor/bdk": "${dependency}"`)}`,
    );
  }
  await out.line("\nnext");
  if (shown !== ".") await out.line(`  ${cyan(`cd ${shellWord(shown)}`)}`);
  await out.line(`  ${cyan("npm install")}`);
  for (const line of options.extension ? ["npx bdk validate --types", "npm pack"] : ["npx bdk dev --model offline"]) {
    await out.line(`  ${cyan(line)}`);
  }
  return exit.ok;
};

/** A path as a shell takes it for one word. */
function shellWord(path: string): string {
  return /^[\w@%+=:,./~-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

interface Answers {
  readonly dir: string;
  readonly model: string;
}

/** Asks on a terminal for what was not given; `undefined` when the person broke off. */
async function askWhatIsMissing(
  dir: string | undefined,
  model: string | undefined,
  terminal: Terminal,
  json: boolean,
): Promise<Answers | undefined> {
  if (dir !== undefined) return { dir, model: model ?? defaultModel };
  if (!terminal.interactive || json) {
    throw usageFailure("badArgument", {
      message: "bdk init needs a folder",
      help: "bdk init my-agent, or bdk init . for this one",
    });
  }
  const prompts = await import("@clack/prompts");
  prompts.intro("A new agent");
  const where = await prompts.text({ message: "Folder", placeholder: "my-agent", defaultValue: "my-agent" });
  if (prompts.isCancel(where)) return undefined;
  const which =
    model ??
    (await prompts.select({
      message: "Model",
      options: [
        { value: defaultModel, label: defaultModel, hint: "XAI_API_KEY" },
        { value: "openai/gpt-5", label: "openai/gpt-5", hint: "OPENAI_API_KEY" },
        { value: "anthropic/claude-sonnet-4-5", label: "anthropic/claude-sonnet-4-5", hint: "ANTHROPIC_API_KEY" },
        { value: "offline", label: "offline", hint: "no key, no network, deterministic" },
      ],
    }));
  if (prompts.isCancel(which)) return undefined;
  prompts.outro("");
  return { dir: where, model: which };
}
