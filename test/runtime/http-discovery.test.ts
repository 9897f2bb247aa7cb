/** Info, health, logs, the index and static files. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeBundle } from "./support/bundle.js";
import { call, playgroundFolder, startHost, startSession, temporaryFolder } from "./support/host.js";
import { createTester } from "./support/tester.js";

const parts = () => createTester().parts;

test("info has the shape of `bdk info --json`, without host connections", async () => {
  const { base } = await startHost(
    makeBundle([
      {
        ...parts(),
        hooks: { "audit/usage": { events: { "turn.completed": () => undefined } } },
        manifest: {
          hostConnections: [
            {
              id: "host-connection:vault",
              source: "bot/host-connections/vault.ts:1",
              layer: "project",
              name: "vault",
              transport: "http",
              target: "https://vault.example",
            },
          ],
          mcpConnections: [
            {
              id: "mcp-connection:linear",
              source: "bot/mcp-connections/linear.ts:1",
              layer: "project",
              name: "linear",
              transport: "http",
              target: "https://linear.example",
            },
          ],
        },
        definitions: { "mcp-connection:linear": { url: "https://linear.example" } },
      },
    ]),
  );
  const { body } = await call(`${base}/v1/info`);
  expect(Object.keys(body)).toEqual(["agents"]);
  const [agent] = body.agents as Record<string, unknown>[];
  expect(agent).toMatchObject({
    slug: "tester",
    name: "tester",
    model: { id: "offline", params: [] },
    instructions: { chars: 9 },
    skills: [],
    subagents: [],
    hooks: [{ name: "audit/usage", events: ["turn.completed"], source: "bot/hooks/audit/usage.ts:1" }],
    mcpConnections: [{ name: "linear", transport: "http", target: "https://linear.example" }],
    diagnostics: [],
  });
  expect(agent?.tools).toContainEqual(
    expect.objectContaining({
      name: "add",
      execution: "server",
      effect: "read",
      needsApproval: false,
      inputSchema: expect.objectContaining({ type: "object" }),
    }),
  );
  expect(JSON.stringify(body)).not.toContain("vault");
});

test("fields that depend on the environment are real in the running server", async () => {
  const dynamic = { dynamic: true } as const;
  const { base } = await startHost(
    makeBundle([
      {
        ...parts(),
        manifest: {
          model: dynamic,
          description: dynamic,
          instructions: {
            text: dynamic,
            parts: [
              { id: "instructions/1", text: "First.", source: "bot/instructions/1.md:1", layer: "project" },
              { id: "instructions/2", source: "bot/instructions/2.ts:1", layer: "project" },
            ],
          },
        },
        definitions: {
          agent: { model: { id: "offline", params: [{ id: "effort", value: "low" }] }, description: "Real." },
          "instructions/2": { markdown: "Second." },
        },
      },
    ]),
  );
  const { body } = await call(`${base}/v1/info`);
  expect(body.agents).toMatchObject([
    {
      description: "Real.",
      model: { id: "offline", params: [{ id: "effort", value: "low" }] },
      instructions: { chars: 16 },
    },
  ]);
});

test("info notes what a model's parameters do not do", async () => {
  const params = [
    { id: "effort", value: "high" },
    { id: "fast", value: "true" },
  ];
  const { base } = await startHost(makeBundle([{ ...parts(), model: "grok-4.5", params }]));
  const { body } = await call(`${base}/v1/info`);
  expect(body.agents).toMatchObject([{ model: { id: "grok-4.5", notes: [expect.stringContaining("fast")] } }]);
});

test("health and readiness carry version and manifest hash", async () => {
  const { url, base } = await startHost(makeBundle([parts()], { hash: "sha256:abc" }));
  for (const path of [`${url}/v1/health`, `${url}/v1/ready`, `${base}/v1/health`, `${base}/v1/ready`]) {
    expect((await call(path)).body).toEqual({ ok: true, version: "0.0.0-test", manifestHash: "sha256:abc" });
  }
});

test("logs are polled with a cursor", async () => {
  const { base, log } = await startHost(makeBundle([parts()]));
  const first = await call(`${base}/v1/logs`);
  const next = first.body.next as number;
  log.warn("the first");
  log.error("the second", new Error("why"));
  const { body } = await call(`${base}/v1/logs?after=${next}`);
  expect(body).toEqual({
    lines: [
      { seq: next + 1, at: expect.stringMatching(/^\d{4}-.*Z$/), level: "warn", message: "the first" },
      {
        seq: next + 2,
        at: expect.any(String),
        level: "error",
        message: expect.stringMatching(/^the second: Error: why\n/),
      },
    ],
    next: next + 2,
  });
  expect((await call(`${base}/v1/logs?after=${next + 2}`)).body).toEqual({ lines: [], next: next + 2 });
  expect((await call(`${base}/v1/logs?after=999999`)).body.lines).not.toEqual([]);
  expect((await call(`${base}/v1/logs?after=x`)).status).toBe(400);
});

test("a hook that throws is logged as the hooks page words it", async () => {
  const hooks = {
    "audit/usage": {
      events: {
        "message.received": () => {
          throw new Error("no disk");
        },
      },
    },
  };
  const { base, lines } = await startHost(makeBundle([{ ...parts(), hooks }]));
  await call(`${base}/v1/session`, { body: { message: "hello" } });
  await expect
    .poll(() => lines.map((line) => line.message))
    .toContainEqual(expect.stringMatching(/^hook "audit\/usage" handler for message\.received threw: .*no disk/));
});

test("the log keeps secrets out of its lines", async () => {
  process.env.BDK_TEST_API_KEY = "sk-very-secret-value";
  try {
    const { base, log } = await startHost(makeBundle([parts()]), { operatorToken: "operator-token-1" });
    log.info("key sk-very-secret-value, Authorization: Bearer abcdefghijkl, operator-token-1");
    const { body } = await call(`${base}/v1/logs`);
    expect(JSON.stringify(body)).not.toMatch(/sk-very-secret|abcdefghijkl|operator-token-1/);
    expect(JSON.stringify(body)).toContain("[redacted]");
  } finally {
    delete process.env.BDK_TEST_API_KEY;
  }
});

test("the index lists agents for people and programs", async () => {
  const { url } = await startHost(
    makeBundle([
      { ...parts(), slug: "one" },
      { ...parts(), slug: "two", manifest: { name: 'T<w>o & "co"', description: "<script>alert(1)</script>" } },
    ]),
    { assets: playgroundFolder() },
  );
  const { body } = await call(`${url}/v1/agents`);
  expect(body).toEqual({
    agents: [
      {
        slug: "one",
        name: "one",
        description: "The agent one.",
        infoUrl: `${url}/one/v1/info`,
        playgroundUrl: `${url}/one/playground`,
      },
      expect.objectContaining({ slug: "two", infoUrl: `${url}/two/v1/info` }),
    ],
  });
  const page = await fetch(url);
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
  const html = await page.text();
  expect(html).toContain('href="/one/playground"');
  expect(html).toContain("T&lt;w&gt;o &amp; &quot;co&quot;");
  expect(html).not.toContain("<script>");
});

test("--no-playground removes the index, --mode single serves at the root", async () => {
  const bare = await startHost(makeBundle([parts()]), { playground: false });
  expect((await call(bare.url)).status).toBe(404);
  expect((await call(`${bare.url}/v1/agents`)).status).toBe(404);
  expect((await call(`${bare.base}/playground`)).status).toBe(404);
  const single = await startHost(makeBundle([parts()]), { mode: "single", assets: playgroundFolder() });
  expect(single.base).toBe(single.url);
  expect((await call(`${single.url}/v1/info`)).status).toBe(200);
  expect((await call(`${single.url}/v1/health`)).status).toBe(200);
  expect((await call(`${single.url}/v1/agents`)).status).toBe(404);
  const root = await fetch(single.url, { redirect: "manual" });
  expect([root.status, root.headers.get("location")]).toEqual([302, "/playground"]);
});

test("a server without the playground's files has the index, and sends nobody to what is not there", async () => {
  const { url, base, agents } = await startHost(makeBundle([parts()]), { assets: temporaryFolder() });
  expect((await call(`${url}/v1/agents`)).body).toEqual({
    agents: [{ slug: "tester", name: "tester", description: "The agent tester.", infoUrl: `${base}/v1/info` }],
  });
  const html = await (await fetch(url)).text();
  expect(html).toContain('href="/tester/v1/info"');
  expect(html).not.toMatch(/playground|\/docs/);
  const { sessionId } = await startSession(base, { message: "hello" });
  const { body } = await call(`${base}/v1/session/${sessionId}/events?format=json`);
  expect(JSON.stringify([agents, body])).not.toContain("playground");
  const page = await call(`${base}/playground`);
  expect([page.status, page.body.message]).toEqual([404, expect.stringContaining("files are not beside this server")]);
  const single = await startHost(makeBundle([parts()]), { mode: "single" });
  expect((await call(single.url)).status).toBe(404);
});

test("static folders serve what lies in them and nothing else", async () => {
  const assets = temporaryFolder();
  mkdirSync(join(assets, "playground/assets"), { recursive: true });
  mkdirSync(join(assets, "docs/reference"), { recursive: true });
  writeFileSync(join(assets, "playground/index.html"), "<h1>play</h1>");
  writeFileSync(join(assets, "playground/assets/app.js"), "play()");
  writeFileSync(join(assets, "playground/secret.json"), "{}");
  writeFileSync(join(assets, "docs/index.html"), "<h1>docs</h1>");
  writeFileSync(join(assets, "docs/reference/http.html"), "<h1>http</h1>");
  writeFileSync(join(assets, "outside.html"), "no");
  symlinkSync(join(assets, "outside.html"), join(assets, "docs/link.html"));
  const { url, base } = await startHost(makeBundle([parts()]), { assets });
  const text = async (path: string) => {
    const response = await fetch(path);
    return [response.status, response.headers.get("content-type"), await response.text()];
  };
  expect(await text(`${base}/playground`)).toEqual([200, "text/html; charset=utf-8", "<h1>play</h1>"]);
  expect(await text(`${base}/playground/assets/app.js`)).toEqual([200, "text/javascript; charset=utf-8", "play()"]);
  expect(await text(`${url}/docs`)).toEqual([200, "text/html; charset=utf-8", "<h1>docs</h1>"]);
  expect(await text(`${url}/docs/reference/http`)).toEqual([200, "text/html; charset=utf-8", "<h1>http</h1>"]);
  for (const path of [
    "/docs/link.html",
    "/docs/..%2foutside.html",
    "/docs/nothing",
    "/docs/%00.html",
    "/docs/.git/config",
  ]) {
    expect([path, (await fetch(url + path)).status]).toEqual([path, 404]);
  }
  expect((await fetch(`${base}/playground/assets/..%2fsecret.json`)).status).toBe(404);
  const etag = (await fetch(`${base}/playground`)).headers.get("etag") ?? "";
  expect((await fetch(`${base}/playground`, { headers: { "if-none-match": etag } })).status).toBe(304);
});

test("a server without evals lists none, and starts none", async () => {
  const { base } = await startHost(makeBundle([parts()]));
  expect((await call(`${base}/v1/dev/evals`)).body).toEqual({ evals: [], config: {} });
  expect((await call(`${base}/v1/dev/evals/runs`)).body).toEqual({ runs: [] });
  for (const [path, init] of [
    ["runs", { body: {} }],
    ["runs/run_1", {}],
    ["runs/run_1/cancel", { body: {} }],
  ] as const) {
    expect(await call(`${base}/v1/dev/evals/${path}`, init)).toMatchObject({
      status: 404,
      body: { error: "not_found" },
    });
  }
  expect((await call(`${base}/v1/dev/evals/runs`, { body: [] })).status).toBe(400);
});
