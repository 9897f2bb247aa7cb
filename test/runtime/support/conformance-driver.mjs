/**
 * The client that the conformance runner starts: an emitted bot (the first argument, in the folder of the second) whose
 * connection leads to the runner's server, the last argument. It lists what the connection lends, and calls each tool with arguments that its schema allows.
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const [bundle, folder, url] = process.argv.slice(2);
const server = spawn(process.execPath, [bundle, "--port", "0", "--json", "--mode", "single"], {
  env: { ...process.env, REFEREE_URL: url },
  cwd: folder,
  stdio: ["ignore", "pipe", "inherit"],
});
const [line] = await new Promise((resolve) => {
  createInterface({ input: server.stdout }).once("line", (text) => resolve([text]));
});
const base = JSON.parse(line).url;
const get = async (path) => (await fetch(`${base}${path}`)).json();

const sample = (schema = {}, name = "") => {
  const { type, enum: choices, default: fallback, properties, items, anyOf, oneOf } = schema;
  if (fallback !== undefined) return fallback;
  if (choices !== undefined) return choices[0];
  if (anyOf ?? oneOf) return sample((anyOf ?? oneOf)[0], name);
  switch (Array.isArray(type) ? type[0] : type) {
    case "object":
      return Object.fromEntries(Object.entries(properties ?? {}).map(([key, each]) => [key, sample(each, key)]));
    case "array":
      return [sample(items, name)];
    case "number":
    case "integer":
      return 7;
    case "boolean":
      return true;
    default:
      return `${name || "text"} 1`;
  }
};

/** What a scenario wants its tools to be called with, where it says so. */
const told = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const wanted = told.toolCalls ?? [];
/** A listing waits for some seconds only, and a busy machine may take longer. */
const list = async () => {
  for (;;) {
    const listed = await get("/v1/tools");
    if (!listed.connectionErrors.some(({ code }) => code === "connection_timeout")) return listed;
  }
};
const { tools, connectionErrors } = await list();
for (const { name } of tools) {
  const { inputSchema, connection } = await get(`/v1/tools/${name}`);
  // One tool of the runner wants the schema of another, as it came.
  if (connection.tool === "json_schema_echo") {
    const other = tools.find((each) => each.name.endsWith("json_schema_2020_12_tool"));
    wanted.push({
      name: "json_schema_echo",
      arguments: { schema: (await get(`/v1/tools/${other.name}`)).inputSchema },
    });
  }
  const calls = wanted.filter((each) => each.name === connection.tool).map((each) => each.arguments ?? {});
  for (const input of calls.length > 0 ? calls : [sample(inputSchema)]) {
    const answer = await fetch(`${base}/v1/tools/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ input }),
    });
    process.stdout.write(`${name} ${JSON.stringify(input)}: ${(await answer.text()).slice(0, 500)}\n`);
  }
}
process.stdout.write(`${JSON.stringify({ connectionErrors, told })}\n`);
server.kill("SIGTERM");
