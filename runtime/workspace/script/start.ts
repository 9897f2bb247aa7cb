/** What every agent tool's script begins with: JSON in, JSON out, the exit code says whether it failed. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ProjectFunction, runProject } from "../../manifest/project-scope.js";
import { standardValidator } from "../../tools/input.js";
import { formatPath } from "../../tools/issues.js";
import { failedWith, messageOf, outcomeOf } from "../../tools/result.js";
import { type ScriptSession, scriptContext } from "./context.js";

/** The parts of a script. */
export interface ScriptParts {
  /** `import.meta.url` of the script. */
  readonly url: string;
  readonly slug: string;
  /** Entry id, such as `tool:count_words`. */
  readonly id: string;
  readonly project: ProjectFunction;
}

const exitCodes = { done: 0, failed: 1, refused: 2 } as const;

interface Definition {
  readonly inputSchema?: unknown;
  execute(input: unknown, ctx: unknown): unknown;
}

/**
 * Runs the tool once: input from the one argument, else from standard input; result to standard output. Exit code 0 with
 * the result, 1 when the tool failed, 2 when the input was refused; then the output is `{ message }`.
 */
export async function runTool({ url, slug, id, project }: ScriptParts): Promise<void> {
  // Standard output is the result's alone.
  const { stderr } = process;
  globalThis.console = new console.Console({ stdout: stderr, stderr });
  const file = fileURLToPath(url);
  try {
    const definitions = await runProject(project, {
      locate: (key) => join(dirname(file), key),
      resolveFrom: () => file,
      imports: [],
    });
    const definition = definitions[slug]?.[id];
    if (!isDefinition(definition)) throw new Error(`the script has no code for ${id}`);
    await answer(definition);
  } catch (error) {
    finish({ message: messageOf(error) }, exitCodes.failed);
  }
}

async function answer(definition: Definition): Promise<void> {
  const input = parse(process.argv[2] ?? readFileSync(0, "utf8"));
  if (input === undefined) return finish({ message: "the input is not a JSON object" }, exitCodes.refused);
  const checked = await standardValidator(definition.inputSchema)?.(input);
  if (checked !== undefined && "issues" in checked && checked.issues !== undefined) {
    const issues = checked.issues.map(({ path = [], message }) => ({ path: formatPath(path), message }));
    return finish({ message: "the input is invalid", issues }, exitCodes.refused);
  }
  const value = checked === undefined ? input : (checked as { readonly value: unknown }).value;
  const session = JSON.parse(process.env.BDK_SESSION ?? "{}") as ScriptSession;
  const outcome = await Promise.resolve(scriptContext(session))
    .then((ctx) => definition.execute(value, ctx))
    .then((result) => outcomeOf(result, true), failedWith);
  finish(outcome.output, outcome.isError ? exitCodes.failed : exitCodes.done);
}

function parse(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text.trim() === "" ? "{}" : text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined; // told to the caller as an input that is no JSON
  }
}

/** Ends the process once the answer is out, whatever the tool has left running. */
function finish(output: unknown, code: number): void {
  process.stdout.write(`${JSON.stringify(output)}\n`, () => process.exit(code));
}

function isDefinition(value: unknown): value is Definition {
  return typeof value === "object" && value !== null && "execute" in value && typeof value.execute === "function";
}
