import type { AgentManifest } from "../../../runtime/manifest/schema.js";
import type { Finding } from "../change.js";
import { sides } from "../change.js";
import { show } from "../json.js";
import { compareFields, type FieldRules } from "../rule.js";

type Local = NonNullable<AgentManifest["local"]>;

const fields: FieldRules<Local> = {
  sandbox: (before, after, { path }) => {
    const message = after === true ? "sandbox turned on, which also offers shell" : "sandbox turned off";
    return [{ path, kind: "changed", level: "risky", message, ...sides(before, after) }];
  },
  cwd: directory("cwd"),
  workspaceDir: directory("workspaceDir"),
};

function directory(field: string) {
  return (before: unknown, after: unknown, { path }: { readonly path: string }): Finding[] => {
    const message = `${field} changed from ${show(before)} to ${show(after)}: the agent works elsewhere`;
    return [{ path, kind: "changed", level: "risky", message, ...sides(before, after) }];
  };
}

/** `local`: where the agent works and how it is confined. */
export function local(
  before: Local | undefined,
  after: Local | undefined,
  { path, tolerate }: { readonly path: string; readonly tolerate: Parameters<typeof compareFields>[3]["tolerate"] },
): Finding[] {
  return compareFields(before ?? {}, after ?? {}, fields, { path, tolerate });
}
