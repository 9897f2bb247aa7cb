import type { FastifyInstance } from "fastify";
import { RuntimeError } from "../errors.js";
import { readIndex, readQuery, readString } from "./body.js";
import { agentOf, callerOf } from "./context.js";

/** Listing artifacts, and downloading what they hold: always as a file, never to be shown. Source: `http-api.md`. */
export function artifactRoutes(app: FastifyInstance): void {
  app.get("/v1/artifacts", async (request) => {
    const query = readQuery(request);
    const kind = readString(query, "kind");
    const sessionId = readString(query, "sessionId");
    const limit = readIndex(query, "limit", { min: 1, max: Number.MAX_SAFE_INTEGER });
    const artifacts = agentOf(request).artifacts.list(callerOf(request), {
      ...(kind !== undefined && { kind }),
      ...(sessionId !== undefined && { sessionId }),
      ...(limit !== undefined && { limit }),
    });
    return { artifacts };
  });

  app.get("/v1/artifacts/:id/content", async (request, reply) => {
    const { id } = request.params as { id: string };
    if (!/^art_[A-Za-z0-9]{1,64}$/.test(id)) throw new RuntimeError("not_found", "no such artifact");
    const { stream, contentType, size, fileName } = await agentOf(request).artifacts.open(callerOf(request), id);
    return reply
      .header("content-type", contentType)
      .header("content-length", size)
      .header("content-disposition", attachment(fileName))
      .header("x-content-type-options", "nosniff")
      .header("content-security-policy", "default-src 'none'; sandbox")
      .header("cache-control", "private, no-store")
      .send(stream);
  });
}

/** RFC 6266: a plain name for old clients, the whole name in UTF-8 for the others. */
function attachment(fileName: string): string {
  const clean = fileName.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}/\\]/gu, "_").replace(/^\.+/, "_");
  const plain = clean.replaceAll(/[^\w .()+-]/g, "_");
  const encoded = encodeURIComponent(clean).replaceAll(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
