import { type Finding, sides } from "../change.js";
import { kindOf } from "../rule.js";

/**
 * `needsApproval`: without it the model acts unattended. With it, MCP callers lose the tool (gated tools are not offered
 * to them), so that direction is worth a look too.
 */
export function approval(before: boolean, after: boolean, { path }: { readonly path: string }): Finding[] {
  const message = after
    ? "now needs approval; MCP callers no longer see it"
    : "no longer needs approval, the model may call it unattended";
  return [{ path, kind: "changed", level: "risky", message, before, after }];
}

/** `code`: of tools that may need approval. What people approve does something else now, or does it otherwise. */
export function gatedCode(
  before: string | undefined,
  after: string | undefined,
  { path }: { readonly path: string },
): Finding[] {
  const message = "the code behind what people approve changed";
  return [{ path, kind: kindOf(before, after), level: "compatible", message, ...sides(before, after) }];
}
