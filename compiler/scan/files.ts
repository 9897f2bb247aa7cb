/** Which files of a slot's folder are looked at, and what their names say. */

/** Tests and type declarations may stand beside any definition; they are never one. Hidden files are nobody's. */
export function isSkipped(name: string): boolean {
  return (
    name.startsWith(".") ||
    /\.(test|spec)\.[^.]+$/.test(name) ||
    /\.d\.[cm]?ts$/.test(name) ||
    /^__(tests|mocks|fixtures|snapshots)__$/.test(name)
  );
}

/** The name without the first of the endings that fits; undefined when none does. */
export function stemOf(name: string, endings: readonly string[]): string | undefined {
  const ending = endings.find((each) => name.endsWith(each) && name.length > each.length);
  return ending === undefined ? undefined : name.slice(0, -ending.length);
}

/** Endings of code that nothing here loads: a file of one beside the others is a mistake. */
const foreignCode = [".tsx", ".jsx", ".cts", ".cjs", ".py", ".rb", ".go", ".sh"] as const;

/** Endings of files that are definitions gone astray, unless a module beside them reads them as data. */
const ambiguous = [".md", ".mdx", ".mdc", ".markdown", ".txt", ".json", ".jsonc", ".yaml", ".yml", ".toml"] as const;

/** What a file is whose ending its slot does not take. */
export function judgeEnding(name: string): "foreign" | "ambiguous" | "data" {
  if (foreignCode.some((ending) => name.endsWith(ending))) return "foreign";
  if (/^(readme|license|changelog)\b/i.test(name)) return "data";
  return ambiguous.some((ending) => name.endsWith(ending)) ? "ambiguous" : "data";
}
