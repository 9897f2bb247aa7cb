import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { RuntimeError } from "../errors.js";
import type { HttpHost, StaticFile } from "./context.js";
import { protectPage } from "./security.js";

/** The playground's page and files, without auth: it holds no data of its own. */
export function playgroundRoutes(app: FastifyInstance, host: HttpHost): void {
  app.get("/playground", async (request, reply) => {
    const [path = "", ...query] = request.url.split("?");
    // The page names its files relative to the address without a slash.
    if (path.endsWith("/")) return reply.redirect(["../playground", ...query].join("?"), 308);
    const page = await host.readStatic("playground", "index.html");
    if (page === undefined)
      throw new RuntimeError(
        "not_found",
        "the playground's files are not beside this server; the build's folder playground/ holds them",
      );
    return sendFile(request, reply, page, false);
  });
  app.get("/playground/assets/*", async (request, reply) => {
    const path = `assets/${(request.params as { "*": string })["*"]}`;
    const file = await host.readStatic("playground", path);
    if (file === undefined) throw new RuntimeError("not_found", "no such file");
    return sendFile(request, reply, file, true);
  });
}

/** The documentation site. */
export function docsRoutes(app: FastifyInstance, host: HttpHost): void {
  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    const path = (request.params as { "*"?: string })["*"] ?? "";
    const candidates = path === "" ? ["index.html"] : [path, `${path}.html`, `${path}/index.html`];
    for (const candidate of candidates) {
      const file = await host.readStatic("docs", candidate);
      if (file !== undefined) return sendFile(request, reply, file, false);
    }
    throw new RuntimeError("not_found", "no such page");
  };
  app.get("/docs", serve);
  app.get("/docs/*", serve);
}

function sendFile(request: FastifyRequest, reply: FastifyReply, file: StaticFile, isHashed: boolean): FastifyReply {
  reply.header("etag", file.etag).header("cache-control", isHashed ? "public, max-age=3600" : "no-cache");
  if (request.headers["if-none-match"] === file.etag) return reply.code(304).send();
  if (file.contentType.startsWith("text/html")) protectPage(reply);
  return reply.type(file.contentType).send(file.bytes);
}
