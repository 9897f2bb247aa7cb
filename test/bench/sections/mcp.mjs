import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { listeningUrl, load, median, startServer } from "../measure.mjs";
import { build, post, project, row, serverOf, work } from "../workbench.mjs";

const count = 100;
const modern = "2026-07-28";
const meta = {
  "io.modelcontextprotocol/protocolVersion": modern,
  "io.modelcontextprotocol/clientCapabilities": {},
};
const accept = "application/json, text/event-stream";

/** `/v1/mcp/tools` with 100 tools against a stateless server of the official SDK (`@modelcontextprotocol/server`). */
export async function mcp() {
  const dir = project(count);
  const out = join(work, "mcp");
  await build(dir, out);
  const ours = await serverOf(out, mkdtempSync(join(work, "mcp-cwd-")));
  const yardstick = fileURLToPath(new URL("../mcp-yardstick.mjs", import.meta.url));
  const theirs = await startServer([process.execPath, yardstick, String(count)], listeningUrl);
  const urls = { ours: `${ours.value}/v1/mcp/tools`, theirs: theirs.value };
  for (const { name, params } of requests) {
    await checkSame(urls, name, params);
    for (const version of [modern, "2025-11-25"]) await compare(urls, name, params, version);
  }
  await ours.stop();
  await theirs.stop();
}

const requests = [
  { name: "tools/call", params: { name: "tool_0042", arguments: { text: "hello", count: 3 } } },
  { name: "tools/list", params: {} },
];

async function compare(urls, name, params, version) {
  const isModern = version === modern;
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: name,
    params: isModern ? { ...params, _meta: meta } : params,
  });
  const headers = {
    accept,
    "mcp-protocol-version": version,
    ...(isModern && { "mcp-method": name, ...(params.name && { "mcp-name": params.name }) }),
  };
  const options = { connections: 16, ms: 1500, body, headers };
  const ratios = [];
  let last;
  for (let round = 0; round < 4; round += 1) {
    const theirs = await load(urls.theirs, options);
    const mine = await load(urls.ours, options);
    if (round > 0) ratios.push(mine / theirs); // the first round warms both up
    last = { mine, theirs };
  }
  row(
    `MCP ${name} of ${count} tools, ${version}, against the SDK (${Math.round(last.mine)} to ${Math.round(last.theirs)} /s)`,
    median(ratios),
    "×",
    "≥ 5",
    median(ratios) >= 5,
  );
}

/** Both servers do the same work: the same tools with the same schemas, the same result of a call. */
async function checkSame(urls, method, params) {
  const answers = [];
  for (const url of [urls.ours, urls.theirs]) {
    const { result } = await post(
      url,
      { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } },
      {
        accept,
        "mcp-protocol-version": modern,
        "mcp-method": method,
        ...(params.name && { "mcp-name": params.name }),
      },
    );
    answers.push({
      tools: result.tools?.map(withoutDialect),
      content: result.content,
      value: result.structuredContent,
    });
  }
  const [ours, theirs] = answers.map((each) => JSON.stringify(each, sortKeys));
  if (ours !== theirs)
    throw new Error(`the answers to ${method} differ:\n${ours.slice(0, 600)}\n${theirs.slice(0, 600)}`);
}

function withoutDialect({ inputSchema: { $schema: _, ...inputSchema }, ...tool }) {
  return { ...tool, inputSchema };
}

function sortKeys(_key, value) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)));
}
