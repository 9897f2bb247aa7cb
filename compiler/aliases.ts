/** The names that this package goes by: real projects import it under all of them. Source: `api-facts.md` §0. */
export const packageAliases = ["@cursor/bdk", "@cursor/july", "@cursor/agent-sdk", "@grok/agent-sdk"] as const;

/**
 * The subpath of our package that a specifier names, under whichever alias; undefined for other packages.
 *
 * @example ownSubpath("@cursor/july/tools") // "./tools"
 * @example ownSubpath("@cursor/bdk") // "."
 */
export function ownSubpath(specifier: string): string | undefined {
  const alias = packageAliases.find((name) => specifier === name || specifier.startsWith(`${name}/`));
  if (alias === undefined) return undefined;
  return specifier === alias ? "." : `.${specifier.slice(alias.length)}`;
}
