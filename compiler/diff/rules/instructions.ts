import type { AgentManifest } from "../../../runtime/manifest/schema.js";
import { type Finding, sides } from "../change.js";
import { join } from "../json.js";
import { compareFields, type FieldRules, pairByKey, type Scene } from "../rule.js";
import { layer, packageVersion } from "./origin.js";
import { timing } from "./schedule.js";
import { text } from "./text.js";

type Instructions = AgentManifest["instructions"];
type Part = Instructions["parts"][number];

const fields: FieldRules<Part> = {
  id: timing("id", "compatible"),
  text: text("text"),
  layer,
  package: packageVersion,
};

/** `instructions.text`: a line diff, and which upgraded packages have a part in it. */
export function wholeText(
  before: Instructions["text"],
  after: Instructions["text"],
  scene: Scene<Instructions>,
): Finding[] {
  const upgrades = pairByKey(scene.before.parts, scene.after.parts, (part) => part.source).flatMap((pair) => {
    const [old, now] = [pair.before?.package, pair.after?.package];
    return old === now ? [] : [`${old ?? "new"} → ${now ?? "gone"}`];
  });
  const whose = upgrades.length === 0 ? "" : `; it has a part of ${[...new Set(upgrades)].join(", ")}`;
  return text("text")(before, after, scene).map((finding) => ({ ...finding, message: `${finding.message}${whose}` }));
}

/** `instructions.parts`: the files that the text is composed of, by source. A part has its own text when the whole is dynamic. */
export function parts(
  before: readonly Part[],
  after: readonly Part[],
  { path, tolerate }: Scene<Instructions>,
): Finding[] {
  const found = pairByKey(before, after, (part) => part.source).flatMap((pair): Finding[] => {
    const at = join(path, pair.key);
    if (pair.before !== undefined && pair.after !== undefined) {
      return compareFields(pair.before, pair.after, fields, { path: at, tolerate }).map((finding) => ({
        ...finding,
        message: `part ${pair.key}: ${finding.message}`,
      }));
    }
    const kind = pair.after === undefined ? "removed" : "added";
    const message = `part ${pair.key} ${kind}`;
    return [{ path: at, kind, level: "compatible", message, ...sides(pair.before, pair.after) }];
  });
  if (found.length > 0) return found;
  return [{ path, kind: "changed", level: "compatible", message: "parts reordered", before, after }];
}
