/** Custom channels over HTTP: routing, checks, bodies, answers. */
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { gunzipSync, gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import * as z3 from "zod/v3";
import * as z from "zod/v4";
import { DELETE, GET, PATCH, POST, PUT, type Route } from "../../runtime/authoring/channels.js";
import { makeBundle } from "./support/bundle.js";
import { open, serve } from "./support/channels.js";
import { call, startHost } from "./support/host.js";

const echo = (name: string): Pick<Route, "handler"> => ({
  handler: (_request, { params }) => Response.json({ name, params }),
});

test("methods, literal parts before parameters, dots, the channel itself, a slash at the end, encoded parts", async () => {
  const { at } = await serve({
    ...open,
    routes: [
      GET("/", echo("root")),
      GET("/items/:id", echo("item")),
      GET("/items/new", echo("new")),
      PUT("/items/:id", echo("put")),
      PATCH("/items/:id", echo("patch")),
      DELETE("/items/:id", echo("delete")),
      POST("/items/:id/notes/:note", echo("note")),
      GET("/.well-known/agent-card.json", echo("card")),
    ],
  });
  const ask = async (method: string, path: string) => (await call(`${at}${path}`, { method })).body;
  expect(await ask("GET", "")).toEqual({ name: "root", params: {} });
  expect(await ask("GET", "/")).toEqual({ name: "root", params: {} });
  expect(await ask("GET", "/items/new/")).toEqual({ name: "new", params: {} });
  expect(await ask("GET", "/items/a%2Fb%20c")).toEqual({ name: "item", params: { id: "a/b c" } });
  expect(await ask("PUT", "/items/1")).toEqual({ name: "put", params: { id: "1" } });
  expect(await ask("PATCH", "/items/1")).toEqual({ name: "patch", params: { id: "1" } });
  expect(await ask("DELETE", "/items/1")).toEqual({ name: "delete", params: { id: "1" } });
  expect(await ask("POST", "/items/1/notes/2")).toEqual({ name: "note", params: { id: "1", note: "2" } });
  expect(await ask("GET", "/.well-known/agent-card.json")).toEqual({ name: "card", params: {} });
  expect((await fetch(`${at}/items/1`, { method: "HEAD" })).status).toBe(200);
});

test("an unknown channel and path are 404; a wrong method is 405 and says which are right", async () => {
  const { at, base } = await serve({ ...open, routes: [GET("/a", echo("a")), PUT("/a", echo("b"))] });
  for (const path of [`${at}/b`, `${at}/a/b`, `${base}/v1/channels/other/a`, `${base}/v1/channels/`]) {
    expect(await call(path)).toMatchObject({ status: 404, body: { ok: false, error: "not_found" } });
  }
  const wrong = await call(`${at}/a`, { method: "POST" });
  expect(wrong).toMatchObject({ status: 405, body: { ok: false, error: "method_not_allowed" } });
  expect(wrong.headers.get("allow")).toBe("GET, HEAD, PUT");
  const plain = await startHost(makeBundle([{}]));
  expect((await call(`${plain.base}/v1/channels/drive`)).status).toBe(404);
});

test.each([
  ["zod 4", z.object({ text: z.string(), tags: z.array(z.object({ name: z.string() })).default([]) })],
  ["zod 3", z3.object({ text: z3.string(), tags: z3.array(z3.object({ name: z3.string() })).default([]) })],
])(
  "a body is checked by %s: its output reaches the handler, and a refusal names the field",
  async (_name, bodySchema) => {
    const { at } = await serve({
      ...open,
      routes: [POST("/", { bodySchema, handler: (_request, { body }) => Response.json({ body }) })],
    });
    expect((await call(at, { body: { text: "hi" } })).body).toEqual({ body: { text: "hi", tags: [] } });
    const wrong = await call(at, { body: { text: "hi", tags: [{ name: 1 }] } });
    expect(wrong).toMatchObject({
      status: 400,
      body: { ok: false, error: "invalid_request", issues: [{ path: "tags[0].name" }] },
    });
    expect(wrong.body.message).toContain("tags[0].name");
    expect((await call(at, { method: "POST" })).status).toBe(400);
  },
);

test("any Standard Schema checks, also asynchronously", async () => {
  const bodySchema = {
    "~standard": {
      version: 1 as const,
      vendor: "test",
      validate: async (value: unknown) =>
        value === "yes" ? { value: 42 } : { issues: [{ message: "say yes", path: [] }] },
    },
  };
  const { at } = await serve({
    ...open,
    routes: [POST("/", { bodySchema, handler: (_request, { body }) => Response.json({ body }) })],
  });
  expect((await call(at, { body: "yes" })).body).toEqual({ body: 42 });
  expect(await call(at, { body: "no" })).toMatchObject({
    status: 400,
    body: { message: "the body is invalid: say yes" },
  });
});

test("the query is checked, and coerced", async () => {
  const { at } = await serve({
    ...open,
    routes: [
      GET("/list", {
        querySchema: z.object({ limit: z.coerce.number().int().max(10), tag: z.array(z.string()).optional() }),
        handler: (_request, { query }) => Response.json({ query }),
      }),
    ],
  });
  expect((await call(`${at}/list?limit=3&tag=a&tag=b`)).body).toEqual({ query: { limit: 3, tag: ["a", "b"] } });
  expect(await call(`${at}/list?limit=30`)).toMatchObject({ status: 400, body: { issues: [{ path: "limit" }] } });
});

test("bodies: JSON of any type, forms, text; broken JSON and keys that reach into prototypes are refused", async () => {
  const { at } = await serve({
    ...open,
    routes: [POST("/", { handler: (_request, { body }) => Response.json({ body: body ?? "none" }) })],
  });
  const send = async (type: string, body: string) =>
    (await call(at, { method: "POST", headers: { "content-type": type }, ...({ body } as object) })).body;
  const post = async (type: string, body: string) => {
    const response = await fetch(at, { method: "POST", headers: { "content-type": type }, body });
    return { status: response.status, body: (await response.json()) as unknown };
  };
  expect(await send("application/json", "x")).toEqual({ body: "x" });
  expect((await post("application/vnd.api+json; charset=utf-8", "[1]")).body).toEqual({ body: [1] });
  expect((await post("application/x-www-form-urlencoded", "a=1&b=2&b=3")).body).toEqual({
    body: { a: "1", b: ["2", "3"] },
  });
  expect((await post("text/plain", "plain")).body).toEqual({ body: "plain" });
  expect((await post("application/octet-stream", "xx")).body).toEqual({ body: "none" });
  for (const broken of ["{", '{"__proto__":{}}', '{"constructor":{"prototype":{}}}']) {
    expect(await post("application/json", broken)).toMatchObject({ status: 400, body: { error: "invalid_request" } });
  }
  expect((await post("application/json", '\uFEFF{"a":1}')).body).toEqual({ body: { a: 1 } });
});

test("the raw request has the bytes as they came, and its headers", async () => {
  const { at } = await serve({
    ...open,
    routes: [
      POST("/hook", {
        handler: async (request, { body }) => {
          const bytes = Buffer.from(await request.arrayBuffer());
          const signature = createHmac("sha256", "s").update(bytes).digest("hex");
          return Response.json({ ok: signature === request.headers.get("x-signature"), url: request.url, body });
        },
      }),
    ],
  });
  const text = '{ "a":1.0,\r\n\t"ü": "\\u00fc" }';
  const signature = createHmac("sha256", "s").update(text).digest("hex");
  const response = await fetch(`${at}/hook?x=1`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-signature": signature },
    body: text,
  });
  expect(await response.json()).toEqual({ ok: true, url: `${at}/hook?x=1`, body: { a: 1, ü: "ü" } });
});

test("a body past the limit is 413, told or streamed; a handler never sees it", async () => {
  let called = 0;
  const handler = () => {
    called += 1;
    return new Response("seen");
  };
  const { at } = await serve({ ...open, routes: [POST("/", { handler })] }, { bodyLimit: 1000 });
  expect((await fetch(at, { method: "POST", body: "x".repeat(1000) })).status).toBe(200);
  expect((await fetch(at, { method: "POST", body: "x".repeat(1001) })).status).toBe(413);
  const chunks = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < 3; at += 1) controller.enqueue(new Uint8Array(500));
      controller.close();
    },
  });
  const init = { method: "POST", body: chunks, duplex: "half" };
  expect((await fetch(at, init as RequestInit)).status).toBe(413);
  expect(called).toBe(1);
});

test("the handler's answer goes out as it is: status, headers, cookies, and a body as it comes", async () => {
  let feed: ReadableStreamDefaultController<Uint8Array> | undefined;
  const { at } = await serve({
    ...open,
    routes: [
      GET("/made", {
        handler: () => {
          const headers = new Headers({ "x-a": "1", "content-type": "text/csv", location: "/elsewhere" });
          headers.append("set-cookie", "a=1");
          headers.append("set-cookie", "b=2");
          return new Response("a,b", { status: 201, headers });
        },
      }),
      POST("/none", { handler: () => new Response(null, { status: 204 }) }),
      GET("/slow", {
        handler: () =>
          new Response(
            new ReadableStream({
              start(controller) {
                feed = controller;
                controller.enqueue(new TextEncoder().encode("first"));
              },
            }),
          ),
      }),
    ],
  });
  const made = await fetch(`${at}/made`);
  expect([made.status, made.headers.get("x-a"), made.headers.get("location")]).toEqual([201, "1", "/elsewhere"]);
  expect(made.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  expect(await made.text()).toBe("a,b");
  expect((await fetch(`${at}/none`, { method: "POST" })).status).toBe(204);
  const reader = (await fetch(`${at}/slow`)).body?.getReader();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("first");
  feed?.enqueue(new TextEncoder().encode("second"));
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("second");
  feed?.close();
  expect((await reader?.read())?.done).toBe(true);
});

test("what was fetched elsewhere goes out unpacked and whole; HEAD does not wait for a body that never ends", async () => {
  const packed = gzipSync("upstream ".repeat(50));
  const upstream = createServer((_request, response) => {
    response.writeHead(200, { "content-encoding": "gzip", "content-length": packed.length, "x-up": "1" }).end(packed);
  });
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void upstream.close());
  const { port } = upstream.address() as AddressInfo;
  let isCancelled = false;
  const endless = () => {
    const cancel = () => {
      isCancelled = true;
    };
    return new Response(new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(1)), cancel }));
  };
  const { at } = await serve({
    ...open,
    routes: [
      GET("/proxied", { handler: () => fetch(`http://127.0.0.1:${port}/`) }),
      GET("/packed", { handler: () => new Response(packed, { headers: { "content-encoding": "gzip" } }) }),
      GET("/endless", { handler: endless }),
      POST("/raw", {
        async handler(request, { body }) {
          const text = gunzipSync(await request.arrayBuffer()).toString();
          return Response.json({ text, body: body ?? "none" });
        },
      }),
    ],
  });
  const proxied = await fetch(`${at}/proxied`);
  expect(proxied.headers.get("x-up")).toBe("1");
  expect(await proxied.text()).toBe("upstream ".repeat(50));
  expect(await (await fetch(`${at}/packed`)).text()).toBe("upstream ".repeat(50));
  const head = await fetch(`${at}/endless`, { method: "HEAD" });
  expect([head.status, head.headers.get("content-length")]).toEqual([200, null]);
  await expect.poll(() => isCancelled).toBe(true);
  const headers = { "content-type": "application/json", "content-encoding": "gzip" };
  const raw = await fetch(`${at}/raw`, { method: "POST", headers, body: gzipSync('{"a":1}') });
  expect(await raw.json()).toEqual({ text: '{"a":1}', body: "none" });
});

test("a handler that throws, or returns no Response that can be sent, is 500 without a word of it; the log has the stack", async () => {
  const { at, lines } = await serve({
    ...open,
    routes: [
      GET("/throws", {
        handler: () => {
          throw Object.assign(new Error("secret detail"), { statusCode: 404 });
        },
      }),
      GET("/nothing", { handler: () => undefined as unknown as Response }),
      GET("/error", { handler: () => Response.error() }),
      GET("/read", {
        async handler() {
          const response = new Response("once");
          await response.text();
          return response;
        },
      }),
    ],
  });
  for (const path of ["/throws", "/nothing", "/error", "/read"]) {
    const answer = await call(`${at}${path}`);
    expect(answer.status).toBe(500);
    expect(answer.body).toEqual({ ok: false, error: "internal", message: "the server failed; its log says why" });
  }
  const logged = lines.map(({ message }) => message).join("\n");
  expect(logged).toContain('channel "drive": GET /throws');
  expect(logged).toContain("secret detail");
  expect(logged).toContain("returned no Response");
  expect(logged).toContain("returned a Response with the status 0");
  expect(logged).toContain("returned a Response whose body is read already");
});

test("the client that goes away aborts the handler's signal", async () => {
  let told: (() => void) | undefined;
  const aborted = new Promise<void>((resolve) => {
    told = resolve;
  });
  let begun: (() => void) | undefined;
  const started = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const { at } = await serve({
    ...open,
    routes: [
      GET("/wait", {
        handler: async (_request, { signal }) => {
          signal.addEventListener("abort", () => told?.());
          begun?.();
          await aborted;
          return new Response("late");
        },
      }),
    ],
  });
  const { hostname, port, pathname } = new URL(`${at}/wait`);
  const socket = connect(Number(port), hostname);
  socket.write(`GET ${pathname} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`);
  await started;
  socket.destroy();
  await aborted;
});
