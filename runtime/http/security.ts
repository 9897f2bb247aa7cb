import type { FastifyInstance, FastifyReply } from "fastify";
import type { HttpHost } from "./context.js";

/** What pages of this server may load: only what it serves itself. */
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** There is no CORS header: other sites' pages cannot read anything. */
const commonHeaders = {
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

/**
 * Keeps answers out of caches, out of other sites' pages and from being taken for what they are not. Whatever answers
 * GET, and every error; an accepted POST can be none of that, and tool calls are many.
 */
export function addSecurityHeaders(app: FastifyInstance, host: HttpHost): void {
  app.addHook("onRequest", (request, reply, done) => {
    if (request.method === "GET") protectAnswer(reply);
    if (host.isDraining()) reply.header("connection", "close");
    done();
  });
}

/** Adds the headers of any answer that a browser might keep or show. */
export function protectAnswer(reply: FastifyReply): FastifyReply {
  return reply.headers(commonHeaders);
}

/** Adds what an HTML page needs besides: it loads nothing of others, and nobody frames it. */
export function protectPage(reply: FastifyReply): FastifyReply {
  return reply
    .header("content-security-policy", pagePolicy)
    .header("x-frame-options", "DENY")
    .header("referrer-policy", "no-referrer");
}
