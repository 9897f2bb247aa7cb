/**
 * Sends one message under a key, to be killed meanwhile: a person's (`followUp`), the host's own (`wake`), or one to a copy (`fork`). Says on stdout
 * how many calls that write it took.
 */
import { writeSync } from "node:fs";
import { join } from "node:path";
import { createOfflineHarness } from "../../../runtime/harness/offline/offline.js";
import type { AgentGeneration } from "../../../runtime/manifest/bundle.js";
import type { SessionKeys } from "../../../runtime/session/keys.js";
import type { Caller } from "../../../runtime/session/service.js";
import { type AgentSessions, openAgentSessions } from "../../../runtime/storage/agent-sessions.js";

const [how = "", root = "", sessionId = "", generationJson = "{}"] = process.argv.slice(2);
const { agent } = JSON.parse(generationJson) as Pick<AgentGeneration, "agent">;
const caller: Caller = { owner: "bearer:alice", seesAll: false, auth: { kind: "bearer", id: "alice" } };

const sessions = await openAgentSessions({
  slug: "bot",
  stateRoot: join(root, "state"),
  workspaceDir: join(root, "workspaces"),
  generation: () => ({ agent, manifestHash: "sha256:test", files: {}, definitions: {} }),
  harnesses: { resolve: async () => createOfflineHarness({}), problem: () => undefined },
  sections: {},
  log: (level, message) => process.stderr.write(`${level} ${message}\n`),
});
await sessions.recover();
const { continuationToken } = await sessions.get(caller, sessionId);
const { next: atIndex } = await sessions.position(caller, sessionId);

Reflect.set(globalThis, "killArmed", true);
if (how === "wake") await (sessions as AgentSessions & SessionKeys).wake(sessionId, "first", "k");
else if (how === "fork") await sessions.fork(caller, { sessionId, atIndex, message: "first", idempotencyKey: "k" });
else {
  const request = { sessionId, continuationToken: continuationToken ?? "", message: "first", idempotencyKey: "k" };
  await sessions.followUp(caller, request);
}
writeSync(1, `${JSON.stringify({ calls: Reflect.get(globalThis, "killCalls") })}\n`);
process.exit(0);
