import type { Refusal } from "../session/ports.js";

type Key = PropertyKey | { readonly key: PropertyKey };

/** `items[0].name`, as a programmer writes it; empty for the value itself. */
export function formatPath(keys: readonly Key[]): string {
  let path = "";
  for (const part of keys) {
    const key = typeof part === "object" ? part.key : part;
    if (typeof key === "number" || /^\d+$/.test(String(key))) path += `[${String(key)}]`;
    else path += path === "" ? String(key) : `.${String(key)}`;
  }
  return path;
}

/** The refusal of an input, with a message that says all of it in one line. */
export function refuseInput(toolName: string, issues: Refusal["issues"]): Refusal {
  const told = issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ");
  return { refused: `the input of "${toolName}" is invalid: ${told}`, issues };
}
