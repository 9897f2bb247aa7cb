import type { Severity } from "./diagnostic.js";

interface Code {
  readonly code: string;
  readonly severity: Severity;
  /** One line, without the particulars of a case. */
  readonly title: string;
}

/**
 * Every code there is. Codes are permanent: never reuse or renumber one. By phase: 1xxx scan, 2xxx definitions,
 * 3xxx evaluation and schemas, 4xxx resolution, 5xxx manifest and diff, 6xxx emit, 7xxx runtime, 8xxx CLI,
 * 9xxx a bug of ours. Each has a page `docs/reference/errors/<code>.md` and at least one fixture.
 */
export const codes = {
  unknownFolder: { code: "BDK1001", severity: "warning", title: "Unknown folder in the project" },
} as const satisfies Record<string, Code>;

export type CodeName = keyof typeof codes;
