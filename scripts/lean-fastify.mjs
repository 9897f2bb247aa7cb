/**
 * An esbuild plugin that leaves out of a bundle what fastify carries and we never run: the schema compilers (no route
 * declares a JSON schema), pino (our log is our own), the test injector, the proxy address parser (forwarding headers
 * are never believed), and version checks of plugins that we write ourselves. Node parses a third of the text at
 * startup. Whoever reaches one of these is told so by name.
 */
const unused = [
  "@fastify/ajv-compiler",
  "@fastify/fast-json-stringify-compiler",
  "@fastify/proxy-addr",
  "light-my-request",
  "semver",
  "./logger-pino.js",
];

/** find-my-way checks its own constant expressions with it at startup; our routes have none. */
const replaced = { "safe-regex2": "module.exports = () => true;" };

const names = [...unused, ...Object.keys(replaced)].map((name) => name.replace(/[/.]/g, "\\$&"));

export const leanFastify = {
  name: "lean-fastify",
  setup(build) {
    build.onResolve({ filter: new RegExp(`^(?:${names.join("|")})$`) }, ({ path, importer }) =>
      /node_modules\/(?:fastify|find-my-way)\//.test(importer.replaceAll("\\", "/"))
        ? { path, namespace: "lean-fastify" }
        : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: "lean-fastify" }, ({ path }) => ({
      loader: "js",
      contents: replaced[path] ?? absence(path),
    }));
  },
};

/** A module whose every export throws when it is called. */
function absence(path) {
  return `const absent = () => { throw new Error(${JSON.stringify(`${path} is not part of this server`)}); };
module.exports = new Proxy(absent, { get: (target, name) => (name in target ? target[name] : absent) });`;
}
