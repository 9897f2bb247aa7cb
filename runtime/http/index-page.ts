import type { FastifyInstance } from "fastify";
import type { HttpHost } from "./context.js";
import { protectPage } from "./security.js";

/** The index of mounted agents, for people and for programs; without auth. Source: `http-api.md` (Host routes). */
export function indexRoutes(app: FastifyInstance, host: HttpHost): void {
  app.get("/", async (_request, reply) => protectPage(reply).type("text/html; charset=utf-8").send(renderIndex(host)));
  app.get("/v1/agents", async () => ({ agents: listAgents(host) }));
}

function listAgents(host: HttpHost) {
  return host.mounts().map(({ slug, generation: { agent } }) => {
    const base = host.urlOf(slug);
    const { name, description } = agent;
    return {
      slug,
      name,
      ...(typeof description === "string" && { description }),
      infoUrl: `${base}/v1/info`,
      ...(host.playground === "served" && { playgroundUrl: `${base}/playground` }),
    };
  });
}

function renderIndex(host: HttpHost): string {
  const page = host.playground === "served" ? "playground" : "v1/info";
  const items = listAgents(host).map(({ slug, name, description }) => {
    const about = description === undefined ? "" : `<p>${escapeHtml(description)}</p>`;
    return `<li><a href="/${encodeURIComponent(slug)}/${page}">${escapeHtml(name)}</a> <code>/${escapeHtml(slug)}</code>${about}</li>`;
  });
  const docs = host.docs === "served" ? '<footer><a href="/docs">Documentation</a></footer>' : "";
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Agents</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem; color-scheme: light dark; }
ul { list-style: none; padding: 0 }
li { border-top: 1px solid #8884; padding: 0.75rem 0 }
p { margin: 0.25rem 0 0; opacity: 0.75 }
code { opacity: 0.6; margin-left: 0.5rem }
</style>
</head>
<body>
<h1>Agents</h1>
<ul>
${items.join("\n")}
</ul>
${docs}
</body>
</html>
`;
}

function escapeHtml(text: string): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
