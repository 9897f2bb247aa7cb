/** Ambient context of parent folders, `local.cwd` and `local.workspaceDir`. */
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { call } from "./support/host.js";
import { openSessions, run, tempDir } from "./support/sessions.js";
import {
  agentFile,
  buildProject,
  callTools,
  converse,
  makeFolder,
  startServer,
  writeFiles,
} from "./support/worker-project.js";

/** Opens sessions below a folder; tells the prompt and the tools of each step. */
async function observed(root: string, extra: Parameters<typeof openSessions>[0] = {}) {
  const seen: { system: string; tools: string[]; results: string }[] = [];
  const sessions = await openSessions({
    root,
    ...extra,
    harness: {
      async *step({ system, tools, messages, step }) {
        seen.push({ system, tools: tools.map(({ name }) => name), results: JSON.stringify(messages.at(-1)) });
        if (step === 1 && tools.some(({ name }) => name === "load_skill")) {
          yield { type: "call", toolName: "load_skill", args: { name: "style" } };
          yield { type: "finish", reason: "tool-calls" };
        } else yield { type: "finish", reason: "stop" };
      },
    },
  });
  return { sessions, seen };
}

test("AGENTS.md of parents, nearest last; rules that always apply; the others and skills on demand", async () => {
  const root = tempDir();
  writeFiles(root, {
    "AGENTS.md": "Outer: say please.",
    "workspaces/AGENTS.md": "Inner: say thanks.",
    ".cursor/rules/always.mdc": "---\nalwaysApply: true\ndescription: x\n---\nNever swear.",
    ".cursor/rules/plain.md": "Plain rule.",
    ".cursor/rules/style.mdc": '---\ndescription: "How to write."\nalwaysApply: false\n---\nWrite short.',
    ".cursor/rules/types.mdc": "---\nglobs: *.ts\n---\nUse types.",
    ".cursor/rules/ignored.txt": "not a rule",
    ".cursor/skills/deploy/SKILL.md": "---\nname: deploy\ndescription: How to deploy.\n---\nPush the button.",
    ".cursor/hooks.json": "{}",
  });
  const { sessions, seen } = await observed(root);
  await run(sessions, "one");
  await run(sessions, "two");
  const { system, tools } = seen[0] ?? { system: "", tools: [] };
  expect(system.startsWith("Be brief.")).toBe(true);
  expect(system.indexOf("Outer: say please.")).toBeGreaterThan(0);
  expect(system.indexOf("Inner: say thanks.")).toBeGreaterThan(system.indexOf("Outer: say please."));
  for (const told of [
    "Never swear.",
    "Plain rule.",
    "- style: How to write.",
    "- types: Applies to *.ts",
    "- deploy: How to deploy.",
  ]) {
    expect(system).toContain(told);
  }
  for (const hidden of ["Write short.", "Push the button.", "not a rule", "alwaysApply"])
    expect(system).not.toContain(hidden);
  expect(tools).toContain("load_skill");
  expect(seen[1]?.results).toContain("Write short.");
  expect(sessions.logged.filter((line) => line.includes("hooks.json"))).toHaveLength(1);
  expect(existsSync(join(root, "workspaces", "ses"))).toBe(false);
});

test("the workspace's own AGENTS.md is not ambient: the model could write its own instructions", async () => {
  const root = tempDir();
  const { sessions, seen } = await observed(root);
  const { sessionId, continuationToken } = await run(sessions, "one", {
    workspaceFiles: { "AGENTS.md": "Obey me.", ".cursor/rules/x.md": "Obey me too." },
  });
  await sessions.followUp(
    { owner: "bearer:alice", seesAll: false, auth: { kind: "bearer", id: "alice" } },
    { sessionId, continuationToken, message: "two" },
  );
  await sessions.settled(sessionId);
  expect(seen).toHaveLength(2);
  expect(seen.some(({ system }) => system.includes("Obey me"))).toBe(false);
});

test("files that are too large, unreadable or no files are left out with a warning", async () => {
  const root = tempDir();
  writeFiles(root, { "AGENTS.md": "x".repeat(70_000), ".cursor/rules": "a file" });
  mkdirSync(join(root, "workspaces/AGENTS.md"), { recursive: true });
  const { sessions, seen } = await observed(root);
  await run(sessions, "one");
  expect(seen[0]?.system).toBe("Be brief.");
  expect(sessions.logged.join("\n")).toMatch(/AGENTS.md is larger than/);
});

test("local.cwd: every session works in that folder, which is left as it is; it is ambient itself", async () => {
  const out = await buildProject({
    "bot/agent.ts": agentFile('local: { cwd: "./repo" }'),
    "bot/skills/greet.md": "Say hello.\n",
    "bot/sandbox/workspace/seed.txt": "seed",
    "bot/sandbox/workspace/own.txt": "seed",
  });
  const home = makeFolder();
  writeFiles(home, { "repo/own.txt": "mine", "repo/AGENTS.md": "Repo rules." });
  const { url } = await startServer(out, { home });
  const { turn, results } = await callTools(
    url,
    undefined,
    ["ls", {}],
    ["write", { path: "made.txt", text: "x" }],
    ["read", { path: "../script.json" }],
  );
  expect(results.map(({ isError }) => isError)).toEqual([false, false, true]);
  await converse(url, "hi", { workspaceFiles: { "sent.txt": "sent" } });
  expect(readdirSync(join(home, "repo")).sort()).toEqual(["AGENTS.md", "made.txt", "own.txt", "seed.txt", "sent.txt"]);
  expect(readFileSync(join(home, "repo/own.txt"), "utf8")).toBe("mine");
  expect(turn.sessionId).toBeTruthy();
  expect(existsSync(join(home, "cache"))).toBe(false);
});

test("local.cwd that isn't there is told as what it is; local.workspaceDir moves workspaces", async () => {
  const lost = await startServer(await buildProject({ "bot/agent.ts": agentFile('local: { cwd: "./nowhere" }') }));
  const answer = await callTools(lost.url, undefined, ["ls", {}]);
  expect(answer.results[0]).toMatchObject({ isError: true, output: { message: expect.stringContaining("workspace") } });
  expect((await call(`${lost.url}/v1/health`)).status).toBe(200);

  const moved = await startServer(
    await buildProject({ "bot/agent.ts": agentFile('local: { workspaceDir: "work/here" }') }),
  );
  const { turn } = await callTools(moved.url, undefined, ["write", { path: "a.txt", text: "x" }]);
  expect(readFileSync(join(moved.home, "work/here", turn.sessionId, "a.txt"), "utf8")).toBe("x");
});
