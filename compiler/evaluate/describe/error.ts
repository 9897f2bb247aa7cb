import type { EntryOutcome, Problem } from "../protocol.js";
import type { Watch } from "../watch.js";
import { isObject } from "./shape.js";

/** What a module throws while it loads. Errors of our own helpers say which fields are at fault. */
export function describeError(error: unknown, watch: Watch): Pick<EntryOutcome, "problems" | "failure"> {
  const mark = isObject(error) ? error.__agentServe : undefined;
  if (mark === "unmounted") return { problems: [], failure: watch.failure("unmounted", error) };
  const problems = settingsProblems(error);
  if (problems === undefined) return { problems: [], failure: watch.failure("threw", error) };
  watch.takeModule();
  return { problems };
}

/** Problems of the settings that a mount was given, or of what a plugin's servers need; undefined for other errors. */
export function settingsProblems(error: unknown): readonly Problem[] | undefined {
  if (!isObject(error) || !Array.isArray(error.issues)) return undefined;
  const { __agentServe: mark, issues } = error;
  if (mark !== "settings" && mark !== "unmounted" && mark !== "placeholders") return undefined;
  return issues.filter(isObject).map(({ path, message }): Problem => {
    const field = String(path);
    if (mark === "placeholders") {
      return { code: "pluginPlaceholder", path: "", message: String(message), help: "set it where the mount reads it" };
    }
    const words = String(message).replace(/^Invalid input: /, "");
    return {
      code: "extensionSettings",
      path: field,
      message: field === "" ? words : `${field}: ${words}`,
      help: "mend the settings where the extension is mounted",
    };
  });
}
