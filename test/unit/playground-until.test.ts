import { expect, it } from "vitest";
import { untilText } from "../../playground/src/until.js";

it("says how far off a run is in its largest unit", () => {
  const now = new Date("2026-03-01T06:50:30Z");
  const cases = {
    "2026-03-01T06:50:45Z": "in 0 minutes",
    "2026-03-01T06:52:00Z": "in 1 minute",
    "2026-03-01T09:00:00Z": "in 2 hours",
    "2026-03-04T06:50:00Z": "in 2 days",
    "2026-03-01T06:00:00Z": "in 0 minutes",
  };
  for (const [moment, text] of Object.entries(cases)) expect(untilText(new Date(moment), now)).toBe(text);
});
