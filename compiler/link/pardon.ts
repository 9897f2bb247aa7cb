/**
 * A package.json that is no JSON is an error wherever esbuild comes across it, and an error leaves it without a text. It
 * does not need the file, though: resolved through a question of ours, the error is in the answer, beside the path.
 */
import type { Message, PluginBuild } from "esbuild";

/** Marks our question, which every other rule lets pass. */
export const pardoned = Symbol("resolved whatever a package.json says");

/** Whether an error is of a package.json of the project's own. */
export function isPardonable({ location, text }: Message): boolean {
  const file = location?.file ?? unreadableFile(text) ?? "";
  return /(?:^|\/)package\.json$/.test(file) && !/(?:^|\/)node_modules\//.test(file);
}

/** The file that an error without a place is about. */
export function unreadableFile(text: string): string | undefined {
  return /^Cannot read file "([^"]+)"/.exec(text)?.[1];
}

/** Registered last, and only once such an error was met: every import is a round trip more. */
export function resolvePardoned(build: PluginBuild): void {
  build.onResolve(
    { filter: /.*/ },
    async ({ path, importer, namespace, resolveDir, kind, with: attributes, pluginData }) => {
      if (pluginData === pardoned) return undefined;
      const found = await build.resolve(path, {
        importer,
        namespace,
        resolveDir,
        kind,
        with: attributes,
        pluginData: pardoned,
      });
      const errors = found.errors.filter((error) => !isPardonable(error));
      return errors.length > 0 || found.path === "" ? { errors } : { ...found, errors };
    },
  );
}
