import type { Manifest } from "../manifest/schema.js";

/** A start that the operator can mend; told as it is, without a stack trace. */
export class StartupError extends Error {
  override readonly name = "StartupError";
  /** The system's code, when an address could not be used: `EADDRINUSE`, … */
  readonly code: string | undefined;

  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}

/** Names that the manifest requires and the environment lacks; an empty value counts as absent. */
export function missingEnvironment(
  manifest: Manifest,
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  return manifest.env.required.filter((name) => (environment[name] ?? "") === "");
}

/** Refuses to start without the variables that the manifest requires, naming every missing one at once. */
export function checkEnvironment(manifest: Manifest, environment: Readonly<Record<string, string | undefined>>): void {
  const missing = missingEnvironment(manifest, environment);
  if (missing.length === 0) return;
  const [noun, verb] = missing.length === 1 ? ["variable", "is"] : ["variables", "are"];
  throw new StartupError(
    `the environment ${noun} ${missing.join(", ")} ${verb} required and not set; set ${missing.length === 1 ? "it" : "them"} and start again`,
  );
}
