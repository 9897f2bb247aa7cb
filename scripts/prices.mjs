/**
 * Links the price list with the providers that bdk talks to and nothing else of it: 0.04 MB instead of 0.5 MB. What the
 * package calculates stays its own code.
 */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const providers = ["x-ai", "openai", "anthropic"];
const opening = "const E = [\n";
const closing = "\n], J = {";

async function trimmed(file) {
  const { findProvider } = await import("@pydantic/genai-prices");
  const source = await readFile(file, "utf8");
  const end = source.indexOf(closing);
  if (!source.startsWith(opening) || end === -1) {
    throw new Error("the price list is laid out in another way: scripts/prices.mjs must learn it");
  }
  const data = providers.map((providerId) => {
    const { id, name, api_pattern, model_match, models } = findProvider({ providerId });
    const lean = models.map(({ id, match, prices }) => ({ id, match, prices }));
    return { id, name, api_pattern, model_match, models: lean };
  });
  return `const E = ${JSON.stringify(data)}${source.slice(end + 2)}`;
}

/** An esbuild plugin that resolves the package to its trimmed text, so that the result needs no such package. */
export const leanPrices = {
  name: "lean-prices",
  setup(build) {
    build.onResolve({ filter: /^@pydantic\/genai-prices$/ }, () => ({
      path: fileURLToPath(new URL("../node_modules/@pydantic/genai-prices/dist/index.js", import.meta.url)),
      namespace: "lean-prices",
      sideEffects: false,
    }));
    build.onLoad({ filter: /.*/, namespace: "lean-prices" }, async ({ path }) => ({
      contents: await trimmed(path),
      loader: "js",
    }));
  },
};
