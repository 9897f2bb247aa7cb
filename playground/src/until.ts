const units = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
] as const;

/**
 * How far off a moment is, in its largest unit.
 *
 * @example untilText(new Date("2026-01-01T09:00Z"), new Date("2026-01-01T06:50Z")) // "in 2 hours"
 */
export function untilText(moment: Date, now: Date): string {
  const seconds = (moment.getTime() - now.getTime()) / 1000;
  const [unit, size] = units.find(([, length]) => seconds >= length) ?? ["minute", 60];
  return new Intl.RelativeTimeFormat("en").format(Math.max(0, Math.floor(seconds / size)), unit);
}
