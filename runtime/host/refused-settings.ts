/** Settings of mounts that their extensions' schemas refuse when a bundle starts: told together, by their variables. */
import type { ExtensionEntry, Manifest } from "../manifest/schema.js";
import { StartupError } from "./environment.js";
import { createRedactor } from "./redact.js";
import { mapStack } from "./stack.js";

/** One setting that is refused. */
export interface RefusedSetting {
  /** Namespace of the mount; absent when the bundle's map is gone and nothing tells which one it is. */
  readonly extension?: string;
  /** `@acme/ci@1.2.0`. */
  readonly package?: string;
  /** File and line of the mount. */
  readonly source?: string;
  /** Dotted path, `""` for the settings as a whole. */
  readonly setting: string;
  /** Variables that the value comes from, or may come from. */
  readonly variables: readonly string[];
  readonly message: string;
}

/** A start that is refused for what the environment gives to extensions; names every extension, setting and variable. */
export class SettingsError extends StartupError {
  readonly settings: readonly RefusedSetting[];

  constructor(settings: readonly RefusedSetting[]) {
    const lines = settings.map((each) => `  ${tell(each)}`);
    super(`extensions refuse their settings; mend the environment and start again\n${lines.join("\n")}`);
    this.settings = settings;
  }
}

/** As `runtime/authoring/extensions.ts` has it: the mark by which a mount finds the list. */
const refusals = Symbol.for("@cursor/bdk/refused-settings");

/**
 * Runs `load` and gives the errors of mounts meanwhile, instead of letting the first one end it.
 *
 * @returns what was loaded, or the error that project code threw, and what mounts were refused
 */
export async function collectRefusals<T>(
  load: () => Promise<T>,
): Promise<{ readonly loaded: PromiseSettledResult<T>; readonly refused: readonly Error[] }> {
  const refused: Error[] = [];
  Reflect.set(globalThis, refusals, refused);
  try {
    const [loaded] = await Promise.allSettled([load()]);
    return { loaded, refused };
  } finally {
    Reflect.deleteProperty(globalThis, refusals);
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** What the errors of mounts say, in the manifest's terms. */
export function readRefusals(
  errors: readonly Error[],
  manifest: Manifest,
  environment: Environment,
): readonly RefusedSetting[] {
  return errors.flatMap((error) => readRefusal(error, mountOf(error, manifest), environment));
}

/** The same of one error and the mount that made it. Values never show: a schema's own words may hold them. */
export function readRefusal(
  error: Error,
  mount: ExtensionEntry | undefined,
  environment: Environment,
): readonly RefusedSetting[] {
  const hide = createRedactor((mount?.env ?? []).map(({ name }) => environment[name]));
  return issuesOf(error).map(({ path, message }): RefusedSetting => {
    return {
      ...(mount === undefined ? {} : { extension: mount.namespace, source: mount.source }),
      ...(mount?.package === undefined ? {} : { package: mount.package }),
      setting: path,
      variables: variablesOf(path, mount?.env ?? []),
      message: hide(message.replace(/^Invalid input: /, "")),
    };
  });
}

/** The mount whose module made the error, by the first frame in one. */
function mountOf(error: Error, { agents }: Manifest): ExtensionEntry | undefined {
  const frames = mapStack(error.stack ?? "").split("\n");
  const mounts = agents.flatMap(({ slug, extensions }) =>
    extensions.map((mount) => ({ mount, slug, file: mount.source.replace(/:\d+$/, "") })),
  );
  for (const frame of frames) {
    const fits = mounts.filter(({ file }) => new RegExp(`(?:^|[\\s(/])${escaped(file)}:\\d`).test(frame));
    const found = fits.find(({ slug, file }) => frame.includes(`${slug}/${file}`)) ?? fits[0];
    if (found !== undefined) return found.mount;
  }
  return undefined;
}

/** Those of the setting itself, of what is in it or of what it is in; else those that no setting is known of. */
function variablesOf(path: string, env: NonNullable<ExtensionEntry["env"]>): readonly string[] {
  const within = (inner: string, outer: string) => inner === outer || outer === "" || inner.startsWith(`${outer}.`);
  const own = env.filter(({ setting }) => setting !== undefined && (within(setting, path) || within(path, setting)));
  const chosen = own.length > 0 ? own : env.filter(({ setting }) => setting === undefined);
  return [...new Set(chosen.map(({ name }) => name))];
}

function issuesOf(error: Error): readonly { readonly path: string; readonly message: string }[] {
  const issues: readonly unknown[] = "issues" in error && Array.isArray(error.issues) ? error.issues : [];
  return issues.map((issue) => {
    const { path, message } = typeof issue === "object" && issue !== null ? { path: "", message: "", ...issue } : {};
    return { path: String(path ?? ""), message: String(message ?? "") };
  });
}

function tell({ extension, package: from, source, setting, variables, message }: RefusedSetting): string {
  const name = extension === undefined ? "an extension" : `${extension}${from === undefined ? "" : ` (${from})`}`;
  const what = setting === "" ? message : `${setting}: ${message}`;
  const by = variables.length === 0 ? "" : `, from ${variables.join(", ")}`;
  return `${name}: ${what}${by}${source === undefined ? "" : `, at ${source}`}`;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}
