import type { Manifest } from "../manifest/schema.js";
import { StartupError } from "./environment.js";
import { collectRefusals, readRefusals, SettingsError } from "./refused-settings.js";
import { renderStack } from "./stack.js";

/**
 * Runs project code for the first time; what it throws is the project's failure, told with its own stack.
 *
 * @throws SettingsError naming every extension that refuses what the environment gives it
 * @throws StartupError for everything else
 */
export async function loadOrRefuse<T>(load: () => Promise<T>, manifest: Manifest): Promise<T> {
  const { loaded, refused } = await collectRefusals(load);
  if (refused.length > 0) throw new SettingsError(readRefusals(refused, manifest, process.env));
  if (loaded.status === "fulfilled") return loaded.value;
  throw new StartupError(`the project's code failed to load\n${renderStack(loaded.reason)}`);
}
