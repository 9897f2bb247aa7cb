/** Which fields of a definition come from the environment: those that differ between two evaluations. Decision 31. */
import type { Facts } from "./protocol.js";

/** Fields that the manifest can leave to the running server, by kind; `*` is any key or index. */
const deferrable: Readonly<Record<string, readonly string[]>> = {
  agent: ["description", "model", "instructions", "local.cwd", "local.workspaceDir"],
  subagent: ["description", "model", "instructions"],
  instructions: ["text"],
  tool: ["title", "description"],
  skill: ["description", "markdown"],
  "mcp-connection": ["description", "target"],
  "host-connection": ["description", "target"],
  channel: ["options.*"],
  schedule: ["description", "cron", "prompt"],
  reminder: ["description"],
  artifacts: ["kinds.*.description"],
  extension: ["description"],
};

export interface Merged {
  readonly facts: Facts;
  /** Fields that differ, and that the manifest can't leave open. */
  readonly fixed: readonly string[];
}

/**
 * One set of facts from two evaluations of the same definition. `marks` are texts that only come from the evaluation's
 * own surroundings (sentinels, temporary folders): what holds one depends on them, even where both agree.
 */
export function mergeFacts(kind: string, first: Facts, second: Facts, marks: readonly string[]): Merged {
  const fixed: string[] = [];
  const open = deferrable[kind] ?? [];

  const merge = (a: unknown, b: unknown, path: readonly string[]): unknown => {
    const left = JSON.stringify(a);
    const right = a === b ? left : JSON.stringify(b);
    if (left === right && !marks.some((mark) => left?.includes(mark))) return a;
    const pattern = open.find((each) => matches(each, path));
    if (pattern !== undefined) return { dynamic: true };
    if (isRecord(a) && isRecord(b)) {
      const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])];
      const merged = keys.map((key) => [key, merge(a[key], b[key], [...path, key])] as const);
      return Object.fromEntries(merged.filter(([, value]) => value !== undefined));
    }
    if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
      return a.map((item, index) => merge(item, b[index], [...path, String(index)]));
    }
    fixed.push(path.join("."));
    return a;
  };
  return { facts: merge(first, second, []) as Facts, fixed };
}

function matches(pattern: string, path: readonly string[]): boolean {
  const parts = pattern.split(".");
  return parts.length === path.length && parts.every((part, index) => part === "*" || part === path[index]);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
