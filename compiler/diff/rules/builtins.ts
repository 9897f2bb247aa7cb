import { type Finding, sides } from "../change.js";
import { join, list } from "../json.js";
import { kindOf } from "../rule.js";

type Allowlist = readonly string[] | undefined;

/** Built-in tools that act on the workspace or spend turns; the rest only read. */
const acting: ReadonlySet<string> = new Set(["edit", "shell", "task", "write"]);
/** What an absent list allows. */
const standard: readonly string[] = ["edit", "glob", "grep", "ls", "read", "task", "write"];

/** `builtins` and a subagent's `tools`: allowlist of built-in tools; absent means all but `shell`. */
export function builtins(before: Allowlist, after: Allowlist, { path }: { readonly path: string }): Finding[] {
  const [old, now] = [before ?? standard, after ?? standard];
  const gained = now.filter((tool) => !old.includes(tool));
  const lost = old.filter((tool) => !now.includes(tool));
  const place = { path, kind: kindOf(before, after), ...sides(before, after) };
  const level = gained.some((tool) => acting.has(tool)) ? "risky" : "compatible";
  if (gained.length === 0 && lost.length === 0) {
    return [{ ...place, level: "compatible", message: "built-in tools written differently, with the same meaning" }];
  }
  return [
    ...(gained.length === 0 ? [] : [{ ...place, level, message: `built-in tools allowed: ${list(gained)}` } as const]),
    ...(lost.length === 0
      ? []
      : [{ ...place, level: "compatible", message: `built-in tools taken away: ${list(lost)}` } as const]),
  ];
}

/** `builtinTools`: extra tools that the framework offers on request. */
export function offered(
  before: object | undefined,
  after: object | undefined,
  { path }: { readonly path: string },
): Finding[] {
  const [old, now] = [new Map(Object.entries(before ?? {})), new Map(Object.entries(after ?? {}))];
  return [...new Set([...old.keys(), ...now.keys()])].sort().flatMap((name): Finding[] => {
    const [was, is] = [old.get(name), now.get(name)];
    if (was === is) return [];
    const message = `built-in ${name} tools ${is === true ? "turned on" : "turned off"}`;
    const level = is === true ? "risky" : "compatible";
    return [{ path: join(path, name), kind: "changed", level, message, ...sides(was, is) }];
  });
}
