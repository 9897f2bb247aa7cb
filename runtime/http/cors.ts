import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

/** How long a browser may remember an answer to its preflight, in seconds. */
const maxAgeS = 600;

/** Headers of answers that pages may read besides the usual ones. */
const exposed = "location, retry-after, www-authenticate";

/**
 * Lets pages of these origins, and of no other, call the API (`--cors-origin`). No cookies: a page sends the token that it
 * was given. Preflights are answered before any policy is asked, as browsers send no credentials with them.
 */
export function addCors(app: FastifyInstance, origins: ReadonlySet<string>): void {
  if (origins.size === 0) return;
  app.addHook("onRequest", (request, reply, done) => {
    if (!letRead(request, reply, origins)) return done();
    if (request.method !== "OPTIONS" || request.headers["access-control-request-method"] === undefined) return done();
    answerPreflight(request, reply);
  });
}

/** Lets a page of a named origin read the answer, and says whether it is one. */
export function letRead(request: FastifyRequest, reply: FastifyReply, origins: ReadonlySet<string>): boolean {
  if (origins.size === 0) return false;
  // Whether a page may read an answer depends on who asks: caches must not mix them up.
  reply.header("vary", "Origin");
  const { origin } = request.headers;
  if (origin === undefined || !origins.has(origin)) return false;
  reply.header("access-control-allow-origin", origin).header("access-control-expose-headers", exposed);
  return true;
}

/** Whether the operator lets pages of the request's origin in. */
export function isAllowedOrigin(request: FastifyRequest, origins: ReadonlySet<string>): boolean {
  const { origin } = request.headers;
  return origin !== undefined && origins.has(origin);
}

function answerPreflight(request: FastifyRequest, reply: FastifyReply): void {
  const asked = request.headers["access-control-request-headers"];
  reply.header("vary", "Origin, Access-Control-Request-Headers");
  reply.header("access-control-allow-methods", "GET, HEAD, POST, PUT, PATCH, DELETE");
  if (typeof asked === "string" && /^[\w!#$%&'*+.^`|~, -]+$/.test(asked)) {
    reply.header("access-control-allow-headers", asked);
  }
  if (request.headers["access-control-request-private-network"] === "true") {
    reply.header("access-control-allow-private-network", "true");
  }
  reply.header("access-control-max-age", String(maxAgeS)).code(204).send();
}
