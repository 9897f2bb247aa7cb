/** Reading of JSON that others wrote: what is not of the wanted type is as good as absent. */
export type Fields = Readonly<Record<string, unknown>>;

/** The object itself; an empty one for anything else. */
export function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

/** A text that is not empty. */
export function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The items of a list; none for anything else. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
