const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/i;
const day = /^\d{4}-\d{2}-\d{2}$/;

/** True for an ISO-8601 instant with a time zone, such as `2026-03-01T09:00:00Z`. */
export function isInstant(text: string): boolean {
  return instant.test(text) && !Number.isNaN(Date.parse(text)) && isCalendarDay(text.slice(0, 10));
}

/** True for a day of the calendar, such as `2026-03-01`. `Date` takes February 30 for March 2: whoever wrote it meant another day. */
export function isCalendarDay(text: string): boolean {
  const time = day.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}
