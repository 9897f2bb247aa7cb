/** Conversations that channels open and continue. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bearerAuth, type ChannelConfig, defineChannel, GET, POST } from "../../runtime/authoring/channels.js";
import type { JsonValue } from "../../runtime/session/event.js";
import { bundleOf, open, serve } from "./support/channels.js";
import { call, startHost, temporaryFolder } from "./support/host.js";

test("send opens and continues a conversation by its key, also at the same moment; it belongs to who was admitted", async () => {
  const { at, base } = await serve({
    auth: [bearerAuth("ann-token", "ann"), bearerAuth("bob-token", "bob")],
    routes: [
      POST("/:key", {
        handler: async (_request, { send, params, body }) => {
          const session = await send(String(body), {
            continuationToken: `ticket:${params.key}`,
            title: "T",
            admission: "coalesce",
          });
          const { id, continuationToken } = session;
          return Response.json({ id, continuationToken, done: await session.waitForCompletion() });
        },
      }),
    ],
  });
  const say = async (who: string, text: string) => {
    const headers = { authorization: `Bearer ${who}-token` };
    return (await call(`${at}/1`, { body: text, headers })).body as { id: string; done: { result: string } };
  };
  const [first, second] = await Promise.all([say("ann", "one"), say("bob", "two")]);
  expect(first).toMatchObject({ continuationToken: "ticket:1", done: { status: "finished" } });
  expect(second.id).toBe(first.id);
  const third = await say("bob", "three");
  expect(third.id).toBe(first.id);
  expect(third.done.result).toContain("three");
  const list = (await call(`${base}/v1/sessions`)).body as { sessions: unknown[] };
  expect(list.sessions).toEqual([]); // the loopback caller owns none
});

test("HTTP follow-ups continue a channel's session with its wire token; others may not", async () => {
  const { at, base } = await serve(
    {
      auth: [bearerAuth("host-token")],
      routes: [
        POST("/", {
          handler: async (_request, { send }) => {
            const session = await send("hello", { continuationToken: "pr:a/b#1" });
            await session.waitForCompletion();
            return Response.json({ id: session.id });
          },
        }),
      ],
    },
    { authToken: "host-token", operatorToken: "operator-token" },
  );
  const headers = { authorization: "Bearer host-token" };
  const { id } = (await call(at, { method: "POST", headers })).body as { id: string };
  const { sessions } = (await call(`${base}/v1/sessions`, { headers })).body as { sessions: Record<string, unknown>[] };
  expect(sessions).toMatchObject([
    { id, channelId: "drive", continuationToken: "drive:pr:a/b#1", owner: "bearer:token" },
  ]);
  const follow = (continuationToken: string) =>
    call(`${base}/v1/session/${id}`, { headers, body: { message: "more", continuationToken } });
  expect(await follow("drive:pr:a/b#1")).toMatchObject({ status: 200, body: { continuationToken: "drive:pr:a/b#1" } });
  expect((await follow("drive:pr:a/b#2")).status).toBe(409);
});

test("fresh sessions, task sessions, another owner, files, an empty message", async () => {
  const { at, base } = await serve(
    {
      ...open,
      routes: [
        POST("/", {
          handler: async (_request, { send, body }) => {
            const { message, ...options } = body as { message: string };
            const session = await send(message, options);
            await session.waitForCompletion();
            return Response.json({ id: session.id, token: session.continuationToken ?? null });
          },
        }),
      ],
    },
    { dev: true },
  );
  const send = async (body: Record<string, unknown>) => (await call(at, { body })).body as { id: string };
  const first = await send({ message: "a" });
  expect((await send({ message: "a" })).id).not.toBe(first.id);
  const task = await send({ message: "b", mode: "task", title: "Job", auth: { kind: "app", id: "robot" } });
  const { sessions } = (await call(`${base}/v1/sessions`)).body as { sessions: { id: string }[] };
  expect(sessions.find(({ id }) => id === task.id)).toMatchObject({
    mode: "task",
    status: "completed",
    owner: "app:robot",
    title: "Job",
  });
  expect((await call(at, { body: { message: "" } })).status).toBe(400);
  expect((await call(at, { body: { message: "x", continuationToken: "" } })).body.error).toBe(
    "invalid_continuation_token",
  );
  const wrong: Record<string, unknown>[] = [
    { workspaceFiles: { "../x": "" } },
    { workspaceFiles: { a: 5 } },
    { workspaceFiles: "a" },
    { title: 5 },
    { mode: "chatty" },
    { admission: "later" },
    { auth: {} },
    { auth: { kind: "app" } },
  ];
  for (const options of wrong) {
    const refused = await call(at, { body: { message: "x", ...options } });
    expect([refused.status, refused.body.error]).toEqual([400, "invalid_request"]);
  }
});

test("getSession finds the channel's own; setContinuationToken gives it another key, for good", async () => {
  const config: ChannelConfig = {
    ...open,
    routes: [
      POST("/send/:key", {
        handler: async (_request, { send, params }) => {
          const session = await send("hello", { continuationToken: params.key });
          await session.waitForCompletion();
          return Response.json({ id: session.id });
        },
      }),
      POST("/rename/:id/:key", {
        handler: async (_request, { setContinuationToken, params }) => {
          await setContinuationToken(params.id ?? "", params.key ?? "");
          return Response.json({});
        },
      }),
      GET("/session/:id", {
        handler: async (_request, { getSession, params }) => {
          const session = await getSession(params.id ?? "");
          return Response.json({ token: session?.continuationToken ?? null, done: await session?.waitForCompletion() });
        },
      }),
    ],
  };
  const bundle = bundleOf({ drive: config, other: config });
  const host = await startHost(bundle);
  const idOf = async (at: string, key: string) =>
    (await call(`${at}/send/${key}`, { method: "POST" })).body.id as string;
  const at = `${host.base}/v1/channels/drive`;
  const a = await idOf(at, "a");
  const b = await idOf(at, "b");
  expect((await call(`${at}/session/${a}`)).body).toMatchObject({ token: "a", done: { status: "finished" } });
  const stranger = await idOf(`${host.base}/v1/channels/other`, "a");
  expect(stranger).not.toBe(a);
  expect((await call(`${at}/session/${stranger}`)).body).toEqual({ token: null });
  expect((await call(`${at}/session/ses_none`)).body).toEqual({ token: null });
  expect((await call(`${at}/rename/${a}/b`, { method: "POST" })).body.error).toBe("token_in_use");
  expect((await call(`${at}/rename/${stranger}/c`, { method: "POST" })).body.error).toBe("not_found");
  expect((await call(`${at}/rename/${a}/c`, { method: "POST" })).status).toBe(200);
  expect(await idOf(at, "c")).toBe(a);
  expect(await idOf(at, "b")).toBe(b);
  const fresh = await idOf(at, "a");
  expect(fresh).not.toBe(a);
  const { stateRoot } = host;
  await host.close();
  const again = await startHost(bundle, { stateRoot });
  expect(await idOf(`${again.base}/v1/channels/drive`, "c")).toBe(a);
  expect(await idOf(`${again.base}/v1/channels/drive`, "a")).toBe(fresh);
});

test("state is durable and changes through setState alone", async () => {
  const config: ChannelConfig = {
    ...open,
    state: { seen: [] },
    routes: [
      POST("/", {
        handler: async (_request, args) => {
          const { seen } = args.state as { seen: JsonValue[] };
          seen.push("not kept");
          await args.setState({ seen: [...(args.state as { seen: JsonValue[] }).seen, "x"] });
          return Response.json(args.state);
        },
      }),
    ],
  };
  const host = await serve(config);
  await call(host.at, { method: "POST" });
  expect((await call(host.at, { method: "POST" })).body).toEqual({ seen: ["x", "x"] });
  await host.close();
  const again = await serve(config, { stateRoot: host.stateRoot });
  expect((await call(again.at, { method: "POST" })).body).toEqual({ seen: ["x", "x", "x"] });
});

test("receive hands a message into another channel; waitUntil outlives the answer and holds the close", async () => {
  let release: (() => void) | undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let done = false;
  const inbox = defineChannel({ ...open, routes: [] });
  const config: ChannelConfig = {
    ...open,
    routes: [
      POST("/", {
        handler: async (_request, { receive, waitUntil, auth }) => {
          const session = await receive(inbox, { message: "hello", auth, continuationToken: "k" });
          waitUntil(held.then(() => (done = true)));
          waitUntil(Promise.reject(new Error("late failure")));
          const stranger = await receive(defineChannel({ routes: [] }), { message: "x", auth }).catch(
            (error: Error) => error.message,
          );
          return Response.json({ id: session.id, stranger });
        },
      }),
    ],
  };
  const bundle = bundleOf({ drive: config, inbox: { routes: [] } });
  const definitions = { tester: { ...bundle.definitions.tester, "channel:inbox": inbox } };
  const host = await startHost({ ...bundle, definitions }, { dev: true });
  const { body } = await call(`${host.base}/v1/channels/drive`, { method: "POST" });
  expect(body.stranger).toContain("not in the project");
  const { sessions } = (await call(`${host.base}/v1/sessions`)).body as { sessions: unknown[] };
  expect(sessions).toMatchObject([{ id: body.id, channelId: "inbox", continuationToken: "inbox:k" }]);
  const closed = host.close();
  release?.();
  await closed;
  expect(done).toBe(true);
  expect(host.lines.some(({ message }) => message.includes("late failure"))).toBe(true);
});

test("a channel gives a session a folder of its own to work in", async () => {
  const worktree = temporaryFolder();
  writeFileSync(join(worktree, "README.md"), "of the pull request\n");
  const { at } = await serve({
    ...open,
    routes: [
      POST("/", {
        handler: async (_request, { send, body }) => {
          const { workspaceDir, message } = body as { workspaceDir: string; message: string };
          const session = await send(message, { workspaceDir });
          return Response.json(await session.waitForCompletion());
        },
      }),
    ],
  });
  const say = (workspaceDir: string, message: string) => call(at, { body: { workspaceDir, message } });
  const read = await say(worktree, '/read {"path":"README.md"}');
  expect(JSON.stringify(read.body)).toContain("of the pull request");
  await say(worktree, '/write {"path":"notes/a.txt","text":"kept"}');
  expect(existsSync(join(worktree, "notes"))).toBe(true);
  expect((await say("relative/folder", "hi")).status).toBe(400);
  const gone = await say(join(worktree, "gone"), '/read {"path":"README.md"}');
  expect(JSON.stringify(gone.body)).toContain("is not a folder");
});
