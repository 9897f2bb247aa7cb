/** The `shell` tool of an emitted bundle: limits, cancellation, environment, sandbox. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { sandboxTest } from "./support/bubblewrap.js";
import { call, followUntil, isWaiting, nth, startSession } from "./support/host.js";
import {
  agentFile,
  buildProject,
  callTools,
  line,
  makeFolder,
  messageOf,
  only,
  results,
  startServer,
} from "./support/worker-project.js";

let out = "";
beforeAll(async () => {
  out = await buildProject({ "bot/agent.ts": agentFile('tools: ["shell"]') });
});

test("shell: exit code and streams, no secrets, no input, limits, whole group ended with the turn", async () => {
  const { url, workspaceOf } = await startServer(out, { env: { ACME_TOKEN: "hunter2", BDK_BEARER_TOKEN: "hunter3" } });
  const headers = { authorization: "Bearer hunter3" };
  const started = await call(`${url}/v1/session`, {
    headers,
    body: {
      message: [
        line("shell", { command: "pwd; echo wrong >&2; exit 3" }),
        line("shell", { command: "env" }),
        line("shell", { command: "cat; echo read" }),
        line("shell", { command: "head -c 200000 /dev/zero | tr '\\0' x" }),
        line("shell", { command: "sleep 60", timeoutSeconds: 1 }),
        line("shell", { command: "(sleep 60; touch late) & echo started" }),
        line("shell", { command: `: ${"x".repeat(140_000)}` }),
        line("shell", { command: "echo a\0b" }),
      ].join("\n"),
    },
  });
  const sessionId = String(started.body.sessionId);
  const events = await followUntil(url, sessionId, isWaiting, { headers });
  const [codes, env, input, big, slow, left, long, nul] = results(events);
  const dir = workspaceOf(sessionId);
  expect(codes).toEqual({ isError: false, output: { exitCode: 3, stdout: `${dir}\n`, stderr: "wrong\n" } });
  expect(JSON.stringify(env)).not.toMatch(/hunter|ACME|BDK_BEARER|XDG/);
  expect(JSON.stringify(env)).toContain(`HOME=${dir}`);
  expect(input?.output).toMatchObject({ exitCode: 0, stdout: "read\n" });
  expect((big?.output as { stdout: string } | undefined)?.stdout).toMatch(
    /^x{15000}\n… 170000 bytes left out …\nx{15000}$/,
  );
  expect(slow).toMatchObject({ isError: true, output: { message: expect.stringContaining("within 1 s") } });
  expect(left?.output).toMatchObject({ stdout: "started\n" });
  expect(messageOf(long)).toContain("write a script file");
  expect(messageOf(nul)).toContain("NUL");
});

test("stopping a turn ends the command and all that it started", async () => {
  const { url, workspaceOf } = await startServer(out);
  const message = line("shell", { command: "echo $$ > pid; (echo $$ > /dev/null; sleep 300) & sleep 300" });
  const { sessionId } = await startSession(url, { message });
  await followUntil(url, sessionId, nth("actions.requested", 1));
  const file = join(workspaceOf(sessionId), "pid");
  await expect.poll(() => existsSync(file) && readFileSync(file, "utf8").trim() !== "").toBe(true);
  const pid = Number(readFileSync(file, "utf8"));
  expect((await call(`${url}/v1/session/${sessionId}/stop`, { method: "POST" })).body).toMatchObject({ stopped: true });
  const events = await followUntil(url, sessionId, isWaiting);
  expect(only(events, "turn.failed")[0]?.data).toMatchObject({ status: "cancelled" });
  const groupIsGone = () => {
    try {
      process.kill(-pid, 0);
      return false;
    } catch {
      return true; // nobody of the group is left
    }
  };
  await expect.poll(groupIsGone).toBe(true);
});

const sandboxed = { "bot/agent.ts": agentFile('tools: ["shell", "read"], local: { sandbox: true }') };

sandboxTest("the sandbox: the workspace and no network, nothing else to see or write", async () => {
  const { url, workspaceOf } = await startServer(await buildProject(sandboxed), { env: { ACME_TOKEN: "hunter2" } });
  const secret = join(makeFolder(), "secret.txt");
  writeFileSync(secret, "secret");
  const { turn, results: answered } = await callTools(
    url,
    undefined,
    ["shell", { command: "echo in > made.txt; pwd" }],
    ["shell", { command: `cat ${secret}; ls ${join(secret, "..")}` }],
    [
      "shell",
      { command: `(exec 3<>/dev/tcp/127.0.0.1/${new URL(url).port}) 2>&1; cat /proc/net/dev; ls /etc; ls /home /root` },
    ],
    ["shell", { command: "cat /proc/*/environ | tr '\\0' '\\n'" }],
    ["shell", { command: "touch /usr/x; touch /x && rm /x" }],
  );
  const dir = workspaceOf(turn.sessionId);
  const said = answered.map(({ output }) => output as { exitCode: number; stdout: string; stderr: string });
  expect(said[0]).toMatchObject({ exitCode: 0, stdout: `${dir}\n` });
  expect(readFileSync(join(dir, "made.txt"), "utf8")).toBe("in\n");
  expect(said[1]?.stdout).toBe("");
  expect(said[2]?.stdout).not.toMatch(/eth0|passwd|shadow/);
  expect(said[3]?.stdout).not.toContain("hunter2");
  expect(existsSync("/usr/x")).toBe(false);
});

test("the sandbox where it can't be had: a clear failure, never a run without it", async () => {
  const bundle = await buildProject(sandboxed);
  const without = await startServer(bundle, { env: { PATH: "/nowhere" } });
  const absent = await callTools(without.url, undefined, ["shell", { command: "touch x" }]);
  expect(absent.results[0]).toMatchObject({
    isError: true,
    output: { message: expect.stringContaining("apt-get install bubblewrap") },
  });
  expect(existsSync(join(without.workspaceOf(absent.turn.sessionId), "x"))).toBe(false);

  const folder = makeFolder();
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "bin/bwrap"), "#!/bin/sh\necho 'No permissions to create a new namespace' >&2\nexit 1\n", {
    mode: 0o755,
  });
  const forbidden = await startServer(bundle, { env: { PATH: join(folder, "bin") } });
  const refused = await callTools(forbidden.url, undefined, ["shell", { command: "touch x" }]);
  expect(messageOf(refused.results[0])).toContain("No permissions to create a new namespace");
});
