/**
 * Sends messages until the file system refuses (the parent sets a file size limit), then once more, and says what was
 * accepted, what was refused with which code, and what the server still does.
 */
import { join } from "node:path";
import { createOfflineHarness } from "../../../runtime/harness/offline/offline.js";
import type { AgentGeneration } from "../../../runtime/manifest/bundle.js";
import type { Caller } from "../../../runtime/session/service.js";
import { openAgentSessions } from "../../../runtime/storage/agent-sessions.js";

const [root = "", generationJson = "{}"] = process.argv.slice(2);
const { agent } = JSON.parse(generationJson) as Pick<AgentGeneration, "agent">;
const caller: Caller = { owner: "bearer:alice", seesAll: false, auth: { kind: "bearer", id: "alice" } };
const generation: AgentGeneration = { agent, manifestHash: "sha256:test", files: {}, definitions: {} };
const harness = createOfflineHarness({ script: { rules: [{ steps: [[{ text: "ok" }]] }] } });

const sessions = await openAgentSessions({
  slug: "bot",
  stateRoot: join(root, "state"),
  workspaceDir: join(root, "workspaces"),
  generation: () => generation,
  harnesses: { resolve: async () => harness, problem: () => undefined },
  sections: {},
  log: () => undefined,
});

const accepted: string[] = [];
const refused: unknown[] = [];
const { sessionId, ...created } = await sessions.create(caller, { message: "0", channelId: "http" });
let { continuationToken } = created;
for (let message = 1; refused.length < 3; message += 1) {
  await sessions.settled(sessionId);
  const text = `${message} ${"x".repeat(20_000)}`;
  try {
    ({ continuationToken } = await sessions.followUp(caller, { sessionId, continuationToken, message: text }));
    accepted.push(text);
  } catch (error) {
    refused.push(error instanceof Error && "code" in error ? error.code : String(error));
  }
}
const { continuationToken: listed } = await sessions.get(caller, sessionId);
const other = await sessions.create(caller, { message: "small", channelId: "http" });
await sessions.settled(other.sessionId);
const { status } = await sessions.get(caller, other.sessionId);
process.stdout.write(
  JSON.stringify({ sessionId, accepted, refused, isTokenGood: listed === continuationToken, status }),
);
await sessions.close(0);
