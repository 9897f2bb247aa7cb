import type { ConnectionEntry } from "../../../runtime/manifest/schema.js";
import { type Finding, sides } from "../change.js";
import { show } from "../json.js";
import { kindOf } from "../rule.js";

type At = { readonly path: string };

/** `target`: the host, command or peer that a connection talks to. */
export function target(before: ConnectionEntry["target"], after: ConnectionEntry["target"], { path }: At): Finding[] {
  const message =
    typeof after === "string"
      ? `new target ${after}, was ${told(before)}`
      : `target ${told(before)} now depends on the environment`;
  return [{ path, kind: "changed", level: "risky", message, before, after }];
}

export function transport(before: string, after: string, { path }: At): Finding[] {
  return [
    { path, kind: "changed", level: "risky", message: `transport changed from ${before} to ${after}`, before, after },
  ];
}

/** `advertiseTools`: whether the model sees each of the server's tools by name. */
export function advertised(before: boolean | undefined, after: boolean | undefined, { path }: At): Finding[] {
  const message =
    after === true ? "its tools are now listed to the model" : "its tools are no longer listed to the model";
  const level = after === true ? "risky" : "compatible";
  return [{ path, kind: kindOf(before, after), level, message, ...sides(before, after) }];
}

function told(value: ConnectionEntry["target"]): string {
  return typeof value === "string" ? value : show("dynamic");
}
