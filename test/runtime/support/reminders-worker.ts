/**
 * Reminders in a process of their own, to be killed. Says on stdout, synchronously, what it was told is durable and what
 * handlers ran.
 *
 * `random`: makes one-shots that are due at once or soon, for ever. `steps`: fires what is overdue at `NOW`, once.
 */
import { writeSync } from "node:fs";
import { join } from "node:path";
import { createOfflineHarness } from "../../../runtime/harness/offline/offline.js";
import type { AgentGeneration } from "../../../runtime/manifest/bundle.js";
import type { Caller } from "../../../runtime/session/service.js";
import { openAgentSessions } from "../../../runtime/storage/agent-sessions.js";

const [mode = "", root = "", generationJson = "{}"] = process.argv.slice(2);
const { agent } = JSON.parse(generationJson) as Pick<AgentGeneration, "agent">;
const caller: Caller = { owner: "bearer:alice", seesAll: false, auth: { kind: "bearer", id: "alice" } };
const fixed = process.env.NOW === undefined ? undefined : Date.parse(process.env.NOW);

function say(line: unknown): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

const generation: AgentGeneration = {
  agent,
  manifestHash: "sha256:test",
  files: {},
  definitions: {
    "reminder:note": {
      run: ({ args }: { args: { name: string } }) => {
        say({ ran: args.name });
        return { action: "delivered" };
      },
    },
  },
};

const sessions = await openAgentSessions({
  slug: "bot",
  stateRoot: join(root, "state"),
  workspaceDir: join(root, "workspaces"),
  generation: () => generation,
  harnesses: { resolve: async () => createOfflineHarness({}), problem: () => undefined },
  sections: { reminders: () => import("../../../runtime/reminders/index.js") },
  ...(fixed !== undefined && {
    clock: {
      now: () => fixed,
      after: (ms: number, callback: () => void) => {
        const timer = setTimeout(callback, ms);
        return () => clearTimeout(timer);
      },
    },
  }),
  log: (level, message) => process.stderr.write(`${level} ${message}\n`),
});
await sessions.recover();

if (mode === "steps") {
  Reflect.set(globalThis, "killArmed", true);
  await sessions.reminders.start();
  await sessions.reminders.settled();
  say({ calls: Reflect.get(globalThis, "killCalls") });
  process.exit(0);
}

const target = { purpose: "p", channelId: "drive", continuationToken: "pr:1" };
const api = sessions.reminders.api(undefined);
say({ ready: true });
await sessions.reminders.start();
const isThere = (await sessions.list(caller, { limit: 1 })).sessions.length > 0;
if (!isThere) await sessions.create(caller, { message: "hello", channelId: "drive", continuationKey: "pr:1" });
for (let n = 0; ; n += 1) {
  const name = `${process.pid}.${n}`;
  const delay = (n % 4) * 15;
  await (n % 3 === 0
    ? api.create({ ...target, delay, handler: "note", args: { name: `handler ${name}` } })
    : api.create({ ...target, delay, prompt: `prompt ${name}` }));
  say({ made: n % 3 === 0 ? `handler ${name}` : `prompt ${name}` });
}
