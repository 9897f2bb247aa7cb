/** Module hooks under which the conformance runner, written for Node 22, loads on Node 20: it only lacks `fs.globSync`, and needs it for nothing here. */
export async function resolve(specifier, context, next) {
  const isRunner = /conformance(?:-next)?\/dist\//.test(context.parentURL ?? "");
  if (specifier === "fs" && isRunner) {
    return { url: new URL("./fs-with-glob.mjs", import.meta.url).href, shortCircuit: true };
  }
  return next(specifier, context);
}
