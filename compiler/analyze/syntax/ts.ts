import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { Script } from "node:vm";
import type * as TsMorph from "ts-morph";

type TypeScript = typeof TsMorph.ts;

/** As node itself wraps a CommonJS module. */
type Wrapped = (
  exports: object,
  require: NodeJS.Require,
  module: { exports: object },
  filename: string,
  dirname: string,
) => void;

const require = createRequire(import.meta.url);

/**
 * TypeScript's parser, as ts-morph carries it; types come from `import type { ts as Ts } from "ts-morph"`.
 *
 * A built package holds it minified and with its code cache (`scripts/parser.mjs`), which loads in a quarter of the
 * time. Otherwise it comes from ts-morph; by `require`, because an import would first search nine megabytes for names.
 */
export const ts: TypeScript = readBuilt() ?? (require("ts-morph") as typeof TsMorph).ts;

function readBuilt(): TypeScript | undefined {
  const folder = path.join(path.dirname(require.resolve("@cursor/bdk/package.json")), "dist", "parser");
  const filename = path.join(folder, "typescript.js");
  const cache = path.join(folder, "typescript.cache");
  if (!existsSync(filename) || !existsSync(cache)) return undefined;
  // Another version of node rejects the cache and compiles the text as usual.
  const script = new Script(readFileSync(filename, "utf8"), { filename, cachedData: readFileSync(cache) });
  const module = { exports: {} };
  (script.runInThisContext() as Wrapped)(module.exports, require, module, filename, folder);
  return module.exports as TypeScript;
}
