import type { ArtifactsEntry } from "../../../runtime/manifest/schema.js";
import { type Finding, sides } from "../change.js";
import { join } from "../json.js";
import { compareFields, type FieldRules, kindOf, pairByKey, type Scene } from "../rule.js";
import { origin } from "./origin.js";
import { schema } from "./schema.js";
import { text } from "./text.js";

type Kind = ArtifactsEntry["kinds"][number];

/** Who brings a kind: another entry counts, another version of it is told with the mount. */
function from(before: Kind["from"], after: Kind["from"], { path, tolerate }: Scene<Kind>): Finding[] {
  if (before !== undefined && after !== undefined) {
    return compareFields(before, after, { ...origin, id: entry, kind: entry }, { path, tolerate });
  }
  const message = `comes from ${before?.id ?? "the project"}, now from ${after?.id ?? "the project"}`;
  return [{ path, kind: kindOf(before, after), level: "compatible", message, ...sides(before, after) }];
}

function entry(before: string, after: string, { path }: { readonly path: string }): Finding[] {
  return [
    { path, kind: "changed", level: "compatible", message: `was brought as ${before}, now as ${after}`, before, after },
  ];
}

const fields: FieldRules<Kind> = { from, description: text("description"), schema: schema("output") };

/** Artifact kinds by name; readers of artifacts rely on them as on output. */
export function artifactKinds(
  before: readonly Kind[],
  after: readonly Kind[],
  { path, tolerate }: Scene<ArtifactsEntry>,
): Finding[] {
  return pairByKey(before, after, (kind) => kind.name).flatMap((pair): Finding[] => {
    const at = join(path, pair.key);
    if (pair.before === undefined || pair.after === undefined) {
      const gone = pair.after === undefined;
      const message = `artifact kind ${pair.key} ${gone ? "removed" : "added"}`;
      const level = gone ? "breaking" : "compatible";
      return [{ path: at, kind: gone ? "removed" : "added", level, message, ...sides(pair.before, pair.after) }];
    }
    return compareFields(pair.before, pair.after, fields, { path: at, tolerate }).map((finding) => ({
      ...finding,
      message: `artifact kind ${pair.key}: ${finding.message}`,
    }));
  });
}

/** `max`: how many artifacts a session keeps. */
export function retention(before: number, after: number, { path }: { readonly path: string }): Finding[] {
  const message = `artifacts kept changed from ${before} to ${after}`;
  return [{ path, kind: "changed", level: after < before ? "risky" : "compatible", message, before, after }];
}

/** `agentTool`: whether the model may tag artifacts itself. */
export function tagging(before: boolean, after: boolean, { path }: { readonly path: string }): Finding[] {
  const message = after ? "the model may now tag artifacts" : "the model may no longer tag artifacts";
  return [{ path, kind: "changed", level: "compatible", message, before, after }];
}
