import type { Dynamic, ModelSetting } from "../../../runtime/manifest/schema.js";
import { type Finding, sides } from "../change.js";
import { join } from "../json.js";
import { kindOf, pairByKey } from "../rule.js";

type Model = Dynamic<ModelSetting> | undefined;

/** `model`: another model is worth a look (behaviour, cost); its parameters are tuning. */
export function model(before: Model, after: Model, { path }: { readonly path: string }): Finding[] {
  if (!isFixed(before) || !isFixed(after)) {
    const message = `model changed from ${nameOf(before)} to ${nameOf(after)}`;
    return [{ path, kind: kindOf(before, after), level: "risky", message, ...sides(before, after) }];
  }
  const [from, to] = [before.id, after.id];
  const at = join(path, "id");
  const other: Finding = {
    path: at,
    kind: "changed",
    level: "risky",
    message: `model changed from ${from} to ${to}`,
    before: from,
    after: to,
  };
  return [...(from === to ? [] : [other]), ...parameters(before, after, join(path, "params"))];
}

function parameters(before: ModelSetting, after: ModelSetting, path: string): Finding[] {
  return pairByKey(before.params, after.params, (param) => param.id).flatMap((pair) => {
    const [old, now] = [pair.before?.value, pair.after?.value];
    if (old === now) return [];
    const message = `model parameter ${pair.key} changed from ${old ?? "unset"} to ${now ?? "unset"}`;
    return [{ path: join(path, pair.key), kind: kindOf(old, now), level: "compatible", message, ...sides(old, now) }];
  });
}

function isFixed(value: Model): value is ModelSetting {
  return value !== undefined && "id" in value;
}

function nameOf(value: Model): string {
  return value === undefined ? "the agent's own" : isFixed(value) ? value.id : "one from the environment";
}
