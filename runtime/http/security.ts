import type { FastifyInstance } from "fastify";
import type { HttpHost } from "./context.js";

/** What pages of this server may load: only what it serves itself. */
export const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Headers of every answer. There is no CORS header: other sites' pages cannot read anything. */
export function addSecurityHeaders(app: FastifyInstance, host: HttpHost): void {
  app.addHook("onRequest", (_request, reply, done) => {
    reply.headers({
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "referrer-policy": "no-referrer",
      "cross-origin-resource-policy": "same-origin",
      "cache-control": "no-store",
    });
    if (host.isDraining()) reply.header("connection", "close");
    done();
  });
}
