import { type Change, countLevels, type Level } from "../change.js";

/** The machine's view: `{ diffVersion: 1, counts, changes }`, indented, with a final newline. */
export interface JsonReport {
  readonly diffVersion: 1;
  readonly counts: Readonly<Record<Level, number>>;
  readonly changes: readonly Change[];
}

export function renderJson(changes: readonly Change[]): string {
  const report: JsonReport = { diffVersion: 1, counts: countLevels(changes), changes };
  return `${JSON.stringify(report, null, 2)}\n`;
}
