import type { ExtensionEntry } from "../../../runtime/manifest/schema.js";
import { type Finding, sides } from "../change.js";
import { kindOf } from "../rule.js";
import { names } from "./names.js";

/** `env.required`: the server refuses to start without these. */
export const requiredNames = names({
  noun: "environment variable",
  added: "risky",
  gained: "is now required at startup",
  removed: "compatible",
  lost: "is no longer required",
});

/** `env.read`: every name that project code reads. */
export const readNames = names({
  noun: "environment variable",
  added: "risky",
  gained: "is now read",
  removed: "compatible",
  lost: "is no longer read",
});

/** `env` of a mount: which variable fills which setting. That a name is new to the project is told with the project. */
export function mountVariables(
  before: ExtensionEntry["env"],
  after: ExtensionEntry["env"],
  { path }: { readonly path: string },
): Finding[] {
  const message = `settings are read from ${told(after)}, were from ${told(before)}`;
  return [{ path, kind: kindOf(before, after), level: "compatible", message, ...sides(before, after) }];
}

function told(env: ExtensionEntry["env"] = []): string {
  if (env.length === 0) return "no variable";
  return env.map(({ name, setting }) => (setting === undefined ? name : `${name} (${setting})`)).join(", ");
}
