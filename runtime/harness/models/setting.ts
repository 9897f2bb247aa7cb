import type { ModelSetting } from "../harness.js";

/** The model of an agent that names none. Source: `api-facts.md` §1. */
export const defaultModel = {
  id: "grok-4.5",
  params: [
    { id: "effort", value: "high" },
    { id: "fast", value: "true" },
  ],
} satisfies ModelSetting;

/** A setting as authors write it (`"grok-4.5"`, `{ id, params }`), or `undefined` when it is neither. */
export function readModelSetting(value: unknown) {
  if (typeof value === "string" && value !== "") return { id: value, params: [] };
  if (typeof value !== "object" || value === null || !("id" in value) || typeof value.id !== "string") return undefined;
  const params = "params" in value && Array.isArray(value.params) ? value.params.filter(isParam) : [];
  return { id: value.id, params: params.map(({ id, value }) => ({ id, value: String(value) })) };
}

function isParam(value: unknown): value is { id: string; value: unknown } {
  return (
    typeof value === "object" && value !== null && "id" in value && typeof value.id === "string" && "value" in value
  );
}
