const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/i;

/** True for an ISO-8601 instant with a time zone, such as `2026-03-01T09:00:00Z`. */
export function isInstant(text: string): boolean {
  return instant.test(text) && !Number.isNaN(Date.parse(text));
}
