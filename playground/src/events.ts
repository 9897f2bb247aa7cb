/**
 * Events as they come over the wire. The page is a client like any other: it shares no code with the server, and takes
 * nothing about an event for granted but its envelope.
 */
export interface WireEvent {
  readonly type: string;
  readonly index: number;
  readonly sessionId: string;
  readonly turnId?: string;
  readonly at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A value for reading: text as it is, everything else as indented JSON. */
export function show(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
