/** esbuild plugins that keep the server's start lean: Node parses and runs only what a server needs. */
import * as crypto from "node:crypto";

/** What fastify carries and we never run. */
const unused = [
  "@fastify/ajv-compiler",
  "@fastify/fast-json-stringify-compiler",
  "@fastify/proxy-addr",
  "light-my-request",
  "node:http2",
  "node:https",
  "semver",
  "./logger-pino.js",
];

/** find-my-way checks its own constant expressions with it at startup; our routes have none. */
const replaced = { "safe-regex2": "module.exports = () => true;" };

const names = [...unused, ...Object.keys(replaced)].map((name) => name.replace(/[/.]/g, "\\$&"));

/**
 * Leaves out of a bundle what fastify carries and we never run: the schema compilers (no route declares a JSON schema),
 * pino (our log is our own), the test injector, the proxy address parser (forwarding headers are never believed), TLS
 * servers, and version checks of plugins that we write ourselves. A third of the text remains. Whoever reaches one of
 * these is told so by name.
 */
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

/**
 * Loads `node:crypto` when something of it is first used: a server that has not been asked for a session needs none of
 * it, and it is a fifth of what Node itself loads at startup.
 */
export const lazyCrypto = {
  name: "lazy-crypto",
  setup(build) {
    build.onResolve({ filter: /^node:crypto$/ }, ({ path, namespace }) =>
      namespace === "lazy-crypto" ? { path, external: true } : { path, namespace: "lazy-crypto" },
    );
    build.onLoad({ filter: /.*/, namespace: "lazy-crypto" }, () => ({
      loader: "js",
      contents: `const load = () => require("node:crypto");
module.exports = { ${Object.keys(crypto)
        .map((name) => `get ${name}() { return load().${name}; }`)
        .join(", ")} };`,
    }));
  },
};
