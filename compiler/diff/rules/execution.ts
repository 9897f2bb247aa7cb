import { type Finding, type Level, sides } from "../change.js";
import { kindOf } from "../rule.js";

type At = { readonly path: string };

/** `execution`: agent tools can't be called over HTTP, server tools run with the host's rights. */
export function execution(before: string, after: string, { path }: At): Finding[] {
  const level: Level = after === "agent" ? "breaking" : "risky";
  const consequence = after === "agent" ? "it can no longer be called over HTTP" : "it runs inside the server";
  const message = `execution changed from ${before} to ${after}: ${consequence}`;
  return [{ path, kind: "changed", level, message, before, after }];
}

/** `validates`: how input is checked before the tool sees it. */
export function validation(before: string, after: string, { path }: At): Finding[] {
  const level: Level = after === "none" ? "risky" : before === "none" ? "breaking" : "compatible";
  const message =
    after === "none" ? "input is no longer validated" : `input validation changed from ${before} to ${after}`;
  return [{ path, kind: "changed", level, message, before, after }];
}

/** `timeoutMs`: a shorter deadline can fail calls that used to end. Absent means 60 s. */
export function timeout(before: number | undefined, after: number | undefined, { path }: At): Finding[] {
  const shorter = (after ?? 60_000) < (before ?? 60_000);
  const [from, to] = [before ?? "the default", after ?? "the default"];
  const message = `timeout in ms changed from ${from} to ${to}`;
  return [
    { path, kind: kindOf(before, after), level: shorter ? "risky" : "compatible", message, ...sides(before, after) },
  ];
}
