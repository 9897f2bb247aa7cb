import type { Loader } from "esbuild";

/** Text files that can be imported as strings. */
export const textEndings = [
  ".md",
  ".mdx",
  ".txt",
  ".sql",
  ".graphql",
  ".gql",
  ".html",
  ".csv",
  ".tsv",
  ".yaml",
  ".yml",
  ".toml",
  ".xml",
  ".prompt",
  ".jinja",
  ".hbs",
  ".mustache",
] as const;

/** The loader of a file that a plugin reads itself. */
export function loaderOf(file: string): Loader {
  if (/\.[cm]?ts$/.test(file)) return "ts";
  if (file.endsWith(".tsx")) return "tsx";
  if (file.endsWith(".jsx")) return "jsx";
  if (file.endsWith(".json")) return "json";
  return textEndings.some((ending) => file.endsWith(ending)) ? "text" : "js";
}
