import type { Finding } from "../change.js";

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
