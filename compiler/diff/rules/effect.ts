import type { Finding } from "../change.js";

type Effect = "read" | "write" | "dynamic";

/** How much a call may do: unknown effects count as writes when they turn out to be. */
const reach: Readonly<Record<Effect, number>> = { read: 0, dynamic: 1, write: 2 };

/** `effect`: a tool that gains writes is risky; one that gives them up also runs for real in dry runs, which is said. */
export function effect(before: Effect, after: Effect, { path }: { readonly path: string }): Finding[] {
  const grows = reach[after] > reach[before];
  const note = grows ? "" : ", so dry runs and recovery after a crash may run it for real";
  const message = `effect changed from ${before} to ${after}${note}`;
  return [{ path, kind: "changed", level: grows ? "risky" : "compatible", message, before, after }];
}
