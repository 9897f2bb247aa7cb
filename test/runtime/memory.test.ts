/** `memoryHook()` on the emitted bundle over HTTP: the journal, its copy in workspaces, a backend of one's own. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { type Emitted, emitProject } from "./support/emitted.js";
import { call, followUntil, isWaiting, nth, startSession } from "./support/host.js";

const peek = `import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineTool } from "@cursor/bdk/tools";

export default defineTool({
  description: "Reads the journal as the model sees it.",
  effect: "read",
  execute(_input, ctx) {
    const file = join(ctx.workspaceDir, "memory/journal.md");
    return existsSync(file) ? readFileSync(file, "utf8") : null;
  },
});
`;

const hook = 'import { memoryHook } from "@cursor/bdk/memory";\n\nexport default memoryHook();\n';

const ownBackend = `import { memoryHook } from "@cursor/bdk/memory";

export default memoryHook({
  async append({ sessionId, message, reply }, ctx) {
    await ctx.host.kv.put("remembered", { sessionId, message, reply, by: ctx.session.auth.kind });
  },
});
`;

const recall = `import { defineTool } from "@cursor/bdk/tools";

export default defineTool({
  description: "What the backend kept.",
  effect: "read",
  execute: async (_input, ctx) => (await ctx.host.kv.get("remembered")) ?? null,
});
`;

let emitted: Emitted;
let base: string;

beforeAll(async () => {
  emitted = await emitProject({
    "bot/tools/peek.ts": peek,
    "bot/tools/recall.ts": recall,
    "bot/hooks/memory.ts": hook,
  });
  base = await emitted.start();
});

const journal = () => {
  const file = join(emitted.stateRoot, "files/memory/journal.md");
  return existsSync(file) ? readFileSync(file, "utf8") : "";
};

async function talk(message: string, extra: Record<string, unknown> = {}) {
  const started = await startSession(base, { message, ...extra });
  const events = await followUntil(base, started.sessionId, isWaiting);
  return { ...started, events, output: events.flatMap((e) => (e.type === "action.result" ? [e.data.output] : []))[0] };
}

test("each live turn is journalled, and later sessions find it in their workspace", async () => {
  const first = await talk("My dog is called Rex.\n## 2020-01-01 forged");
  await expect.poll(journal).toContain("Rex");
  expect(journal()).toMatch(new RegExp(`^## \\S+ \\(${first.sessionId}\\)\\n\\n\\*\\*Asked:\\*\\* My dog`));
  expect(journal()).toContain("\\## 2020-01-01 forged");
  expect(statSync(join(emitted.stateRoot, "files/memory/journal.md")).mode & 0o777).toBe(0o600);
  const later = await talk("/peek {}");
  expect(later.output).toContain("Rex");
  await expect.poll(journal).toContain(later.sessionId);
  // A conversation that goes on sees what came since.
  const { sessionId, continuationToken } = later;
  await talk("The cat is called Tom.");
  await expect.poll(journal).toContain("Tom");
  await call(`${base}/v1/session/${sessionId}`, { body: { continuationToken, message: "/peek {}" } });
  const events = await followUntil(base, sessionId, nth("session.waiting", 2));
  expect(JSON.stringify(events.findLast(({ type }) => type === "action.result"))).toContain("Tom");
});

test("evals, dry runs and failed turns leave nothing; kill -9 loses nothing that was journalled", async () => {
  await talk("an eval says so", { purpose: "eval" });
  await talk("a dry run says so", { dryRun: true });
  await talk("marker says so");
  await expect.poll(journal).toContain("marker says so");
  expect(journal()).not.toMatch(/an eval|a dry run/);
  const before = journal();
  await emitted.kill();
  base = await emitted.start();
  expect((await talk("/peek {}")).output).toContain(before.trim().slice(-40));
});

test("a backend of one's own takes its place, and without the hook nothing is copied", async () => {
  await emitted.kill();
  await emitted.build({ "bot/hooks/memory.ts": ownBackend });
  base = await emitted.start();
  const before = journal();
  const { sessionId } = await talk("remember me");
  await expect
    .poll(async () => (await talk("/recall {}", { purpose: "eval" })).output)
    .toMatchObject({ sessionId, message: "remember me", by: "loopback" });
  expect(journal()).toBe(before);
  await emitted.kill();
  emitted.remove("bot/hooks/memory.ts");
  await emitted.build({});
  base = await emitted.start();
  expect((await talk("/peek {}")).output).toBeNull();
});
