/** Artifacts on the emitted bundle over HTTP: tagging from tools, hooks and the model, listing, downloads, retention. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { ArtifactRecord } from "../../runtime/authoring/artifacts.js";
import type { SessionEvent } from "../../runtime/session/event.js";
import { makeBundle } from "./support/bundle.js";
import { type Emitted, emitProject } from "./support/emitted.js";
import { call, followUntil, isWaiting, startHost, startSession } from "./support/host.js";

const kinds = `import { defineArtifacts } from "@cursor/bdk/artifacts";
import { z } from "zod";

export default defineArtifacts({
  kinds: {
    report: { description: "A weekly report.", schema: z.object({ week: z.coerce.number(), draft: z.boolean().default(true) }) },
    note: { description: "A note." },
  },
  agentTool: true,
  max: 4,
});
`;

const keep = `import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineTool } from "@cursor/bdk/tools";

export default defineTool({
  description: "Tags what it is given.",
  async execute(input, ctx) {
    const { bytes, lay, ...artifact } = input as Record<string, unknown> & { bytes?: number[]; lay?: string };
    if (lay !== undefined) writeFileSync(join(ctx.workspaceDir, "out.md"), lay);
    const tagged = await ctx.artifacts.tag({ ...artifact, ...(bytes && { contents: Uint8Array.from(bytes) }) } as never);
    return { tagged, listed: (await ctx.artifacts.list({ kind: tagged.kind, limit: 1 })).map(({ id }) => id) };
  },
});
`;

const hook = `import { defineHook } from "@cursor/bdk/hooks";

export default defineHook({
  events: {
    async "turn.completed"(event, ctx) {
      await ctx.artifacts.tag({ kind: "note", key: "last-turn", title: ctx.session.id, contents: String(event.data.result) });
    },
  },
});
`;

let emitted: Emitted;
let base: string;

beforeAll(async () => {
  emitted = await emitProject({ "bot/artifacts.ts": kinds, "bot/tools/keep.ts": keep });
  base = await emitted.start();
});

const list = async (query = "") => (await call(`${base}/v1/artifacts${query}`)).body.artifacts as ArtifactRecord[];

async function turn(message: string, extra: Record<string, unknown> = {}) {
  const { sessionId } = await startSession(base, { message, ...extra });
  const events = await followUntil(base, sessionId, isWaiting);
  const results = events.flatMap((event) => (event.type === "action.result" ? [event.data] : []));
  const tagged = events.filter((event): event is SessionEvent<"artifact.tagged"> => event.type === "artifact.tagged");
  return { sessionId, events, result: results[0], tagged };
}

test("a tool tags: data as its schema gives it, an event in the turn, upsert by key", async () => {
  const first = await turn(
    '/keep {"kind":"report","key":"w","title":"Week","data":{"week":"7"},"contents":"# Seven","contentType":"text/markdown"}',
  );
  const [event] = first.tagged;
  expect(event).toMatchObject({ turnId: expect.any(String), data: { kind: "report", key: "w", title: "Week" } });
  const [record] = await list("?kind=report");
  expect(record).toEqual({
    id: event?.data.id,
    kind: "report",
    key: "w",
    title: "Week",
    data: { week: 7, draft: true },
    sessionId: first.sessionId,
    turnId: event?.turnId,
    contentType: "text/markdown",
    size: 7,
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
  });
  const second = await turn('/keep {"kind":"report","key":"w","title":"Again","data":{"week":8}}');
  const [again, ...others] = await list("?kind=report");
  expect(others).toEqual([]);
  expect(again).toMatchObject({
    id: record?.id,
    title: "Again",
    createdAt: record?.createdAt,
    sessionId: second.sessionId,
  });
  expect(again?.size).toBeUndefined();
  expect((await call(`${base}/v1/artifacts/${record?.id}/content`)).status).toBe(404);
});

test("an unknown kind, refused data and bad fields are the tool's failure", async () => {
  for (const [input, told] of [
    ['{"kind":"poem","key":"k","title":"t"}', 'no kind "poem"'],
    ['{"kind":"report","key":"k","title":"t","data":{"week":"x"}}', "week"],
    ['{"key":"k","title":"t"}', "say which kind"],
    ['{"kind":"note","key":"","title":"t"}', "key must be"],
    ['{"kind":"note","key":"k","title":"t","contents":"x","contentType":"text/html\\r\\nx: y"}', "media type"],
    ['{"kind":"note","key":"k","title":"t","file":"../../etc/passwd"}', "must stay inside"],
    ['{"kind":"note","key":"k","title":"t","file":"missing.md"}', "no file"],
  ] as const) {
    const { result, tagged } = await turn(`/keep ${input}`);
    expect(result, input).toMatchObject({ isError: true, output: { message: expect.stringContaining(told) } });
    expect(tagged).toEqual([]);
  }
});

test("contents come back as a download, never to be shown", async () => {
  const html = await turn(
    '/keep {"kind":"note","key":"../evil\\"\\u000d\\u000a.html","title":"t","contents":"<script>1</script>","contentType":"text/html"}',
  );
  const response = await fetch(`${base}/v1/artifacts/${html.tagged[0]?.data.id}/content`);
  expect(response.status).toBe(200);
  expect(await response.text()).toBe("<script>1</script>");
  expect(response.headers.get("content-type")).toBe("text/html");
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  expect(response.headers.get("content-security-policy")).toContain("sandbox");
  expect(response.headers.get("content-disposition")).toBe(
    "attachment; filename=\"evil___.html\"; filename*=UTF-8''evil%22__.html",
  );
  const head = await fetch(`${base}/v1/artifacts/${html.tagged[0]?.data.id}/content`, { method: "HEAD" });
  expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([200, "18", ""]);
  const bytes = await turn('/keep {"kind":"note","key":"blob","title":"t","bytes":[0,255,10]}');
  const blob = await fetch(`${base}/v1/artifacts/${bytes.tagged[0]?.data.id}/content`);
  expect(new Uint8Array(await blob.arrayBuffer())).toEqual(Uint8Array.from([0, 255, 10]));
  expect(blob.headers.get("content-type")).toBe("application/octet-stream");
  const file = await turn('/keep {"kind":"note","key":"file","title":"t","lay":"# Out","file":"out.md"}');
  const laid = await fetch(`${base}/v1/artifacts/${file.tagged[0]?.data.id}/content`);
  expect(await laid.text()).toBe("# Out");
  expect(laid.headers.get("content-disposition")).toContain('filename="out.md"');
  for (const id of ["art_nothing", "..%2f..%2findex", "x"]) {
    expect((await call(`${base}/v1/artifacts/${id}/content`)).status).toBe(404);
  }
});

test("the model tags with tag_artifact, which a dry run stubs and direct calls don't find", async () => {
  const { tagged, sessionId } = await turn(
    '/tag_artifact {"kind":"note","key":"model","title":"By the model","contents":"hi"}',
  );
  expect(tagged[0]?.data.title).toBe("By the model");
  expect(await list(`?sessionId=${sessionId}`)).toHaveLength(1);
  const refused = await turn('/tag_artifact {"kind":"note","title":1}');
  expect(refused.result).toMatchObject({ isError: true });
  const dry = await turn('/tag_artifact {"kind":"note","key":"dry","title":"t"}', { dryRun: true });
  expect(dry.result).toMatchObject({ stubbed: true, isError: false });
  expect(dry.tagged).toEqual([]);
  expect((await call(`${base}/v1/tools/tag_artifact`, { body: {} })).status).toBe(404);
});

test("the list is newest first, takes filters, and refuses a limit that is none", async () => {
  const all = await list();
  expect(all.length).toBe(4); // max
  expect(all.map(({ updatedAt }) => updatedAt)).toEqual([...all.map(({ updatedAt }) => updatedAt)].sort().reverse());
  expect(await list("?limit=2")).toEqual(all.slice(0, 2));
  for (const limit of ["0", "-1", "x", "1.5"])
    expect((await call(`${base}/v1/artifacts?limit=${limit}`)).status).toBe(400);
});

test("max evicts the longest untouched with its bytes; all is private and survives kill -9", async () => {
  for (const key of ["a", "b", "c", "d"])
    await turn(`/keep {"kind":"note","key":"${key}","title":"${key}","contents":"${key}"}`);
  await turn('/keep {"kind":"note","key":"a","title":"touched","contents":"a2"}');
  await turn('/keep {"kind":"note","key":"e","title":"e","contents":"e"}');
  const before = await list();
  expect(before.map(({ key }) => key)).toEqual(["e", "a", "d", "c"]);
  const folder = join(emitted.stateRoot, "artifacts");
  const blobs = readdirSync(join(folder, "contents"));
  expect(blobs).toHaveLength(4);
  for (const file of ["index.ndjson", ...blobs.map((blob) => join("contents", blob))]) {
    expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
  }
  await emitted.kill();
  await emitted.build({ "bot/hooks/note.ts": hook });
  base = await emitted.start();
  expect(await list()).toEqual(before);
  expect(await (await fetch(`${base}/v1/artifacts/${before[1]?.id}/content`)).text()).toBe("a2");
  const { sessionId } = await turn("hello");
  await expect.poll(async () => (await list("?limit=1"))[0]).toMatchObject({ key: "last-turn", title: sessionId });
  // Told of once it is kept.
  const events = async () => (await call(`${base}/v1/session/${sessionId}/events?format=json`)).body;
  await expect.poll(async () => JSON.stringify(await events())).toContain('"artifact.tagged"');
});

describe("in process", () => {
  const tool = {
    description: "Tags.",
    execute: (input: unknown, ctx: { artifacts: { tag(artifact: unknown): Promise<unknown> } }) =>
      ctx.artifacts.tag(input),
  };

  test("without a registry any kind goes and the default is artifact; calls outside a session tag too", async () => {
    const host = await startHost(makeBundle([{ tools: { tool } }]));
    const free = await call(`${host.base}/v1/tools/tool`, { body: { input: { key: "k", title: "t" } } });
    expect(free.body).toMatchObject({
      isError: false,
      result: { kind: "artifact", id: expect.stringMatching(/^art_/) },
    });
    const odd = await call(`${host.base}/v1/tools/tool`, { body: { input: { kind: "odd", key: "k", title: "t" } } });
    expect(odd.body).toMatchObject({ result: { kind: "odd" } });
    expect(odd.body.result).not.toMatchObject({ id: (free.body.result as { id: string }).id });
  });

  test("an extension's tool calls its kinds by their short names", async () => {
    const bundle = makeBundle([{ tools: { ci__tool: tool, tool } }]);
    const [agent] = bundle.manifest.agents;
    const [entry] = agent?.tools ?? [];
    if (agent === undefined || entry === undefined) throw new Error("the bundle has no tool");
    const origin = { source: "bot/artifacts.ts:1", layer: "project" } as const;
    const kinds = ["ci__report", "report"].map((name) => ({ name, description: name }));
    const artifacts = { ...origin, id: "artifacts:artifacts", kinds, agentTool: false, max: 10 };
    const manifest = {
      ...agent,
      artifacts,
      tools: [{ ...entry, layer: "extension" as const }, ...agent.tools.slice(1)],
    };
    const { base } = await startHost({ ...bundle, manifest: { ...bundle.manifest, agents: [manifest] } });
    for (const [name, kind] of [
      ["ci__tool", "ci__report"],
      ["tool", "report"],
    ] as const) {
      const input = { kind: "report", key: "k", title: "t" };
      const { body } = await call(`${base}/v1/tools/${name}`, { body: { input } });
      expect(body).toMatchObject({ isError: false, result: { kind } });
    }
  });

  test("another principal sees neither the record nor its contents", async () => {
    const bundle = makeBundle([{ tools: { tool } }]);
    const mine = await startHost(bundle, { authToken: "a-token-that-is-long-enough" });
    const headers = { authorization: "Bearer a-token-that-is-long-enough" };
    const { sessionId } = await startSession(
      mine.base,
      { message: '/tool {"key":"k","title":"t","contents":"secret"}' },
      headers,
    );
    await followUntil(mine.base, sessionId, isWaiting, { headers });
    const { body } = await call(`${mine.base}/v1/artifacts`, { headers });
    const [record] = body.artifacts as ArtifactRecord[];
    expect(record).toMatchObject({ key: "k", sessionId });
    const { stateRoot } = mine;
    await mine.close();
    const other = await startHost(bundle, { stateRoot });
    expect((await call(`${other.base}/v1/artifacts`)).body).toEqual({ artifacts: [] });
    expect((await call(`${other.base}/v1/artifacts/${record?.id}/content`)).status).toBe(403);
  });
});
