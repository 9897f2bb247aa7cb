/**
 * A server's session part in a process of its own, to be killed at any moment. It says what it was told is durable:
 * one line of JSON on stdout for each accepted message and for each event that a follower has seen.
 */
import { writeSync } from "node:fs";
import { join } from "node:path";
import { createOfflineHarness } from "../../../runtime/harness/offline/offline.js";
import type { AgentGeneration } from "../../../runtime/manifest/bundle.js";
import type { Caller } from "../../../runtime/session/service.js";
import { openAgentSessions } from "../../../runtime/storage/agent-sessions.js";

const [root = "", generationJson = "{}"] = process.argv.slice(2);
const { agent } = JSON.parse(generationJson) as Pick<AgentGeneration, "agent">;
const caller: Caller = { owner: "bearer:alice", seesAll: false, auth: { kind: "bearer", id: "alice" } };

/** Synchronous, so that what was said before a kill has been said. */
function say(line: unknown): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

const generation: AgentGeneration = {
  agent,
  manifestHash: "sha256:test",
  files: {},
  definitions: {
    "tool:read": {
      effect: "read",
      execute: async () => {
        await pause(1);
        return "read";
      },
    },
    "tool:write": {
      execute: async ({ id }: { id: string }) => {
        say({ wrote: id });
        await pause(1);
        return id;
      },
    },
  },
};

const pieces = Array.from({ length: 6 }, (_, at) => [{ text: `piece ${at} ` }, { delay: 4 }]).flat();
const harness = createOfflineHarness({
  script: {
    rules: [
      {
        steps: [
          [{ reasoning: "thinking" }, ...pieces, { call: "read" }, { call: "write", input: { id: "{{message}}" } }],
          [...pieces, { text: "{{results}}" }],
        ],
      },
    ],
  },
});

const sessions = await openAgentSessions({
  slug: "bot",
  stateRoot: join(root, "state"),
  workspaceDir: join(root, "workspaces"),
  generation: () => generation,
  harnesses: { resolve: async () => harness, problem: () => undefined },
  sections: {},
  log: (level, message) => process.stderr.write(`${level} ${message}\n`),
});

async function follow(sessionId: string): Promise<void> {
  for await (const lines of await sessions.follow(caller, sessionId, 0, new AbortController().signal)) {
    for (const line of lines) say({ sessionId, seen: line });
  }
}

async function converse(name: string): Promise<void> {
  let message = 0;
  let { sessionId, continuationToken } = await sessions.create(caller, {
    message: `${name}.${message}`,
    channelId: "http",
  });
  say({ sessionId, accepted: `${name}.${message}` });
  const following = follow(sessionId);
  for (;;) {
    message += 1;
    if (message % 3 === 0) await pause(5);
    else await sessions.settled(sessionId);
    const text = `${name}.${message}`;
    ({ continuationToken } = await sessions.followUp(caller, { sessionId, continuationToken, message: text }));
    say({ sessionId, accepted: text });
    if (message > 1_000) break;
  }
  await following;
}

say({ ready: true });
// Not awaited: the next kill may hit a turn that is being taken up for the third time.
const recovering = sessions.recover();
await Promise.all(["a", "b", "c"].map((name) => converse(`${process.pid}${name}`)));
await recovering;
