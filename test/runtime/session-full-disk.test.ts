import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { agentOf, alice, eventsOf, only, openSessions, tempDir } from "./support/sessions.js";
import { bundleWorker } from "./support/worker.js";

/** Half-kilobyte blocks: the log of one session hits the limit after a few messages of 20 kB. */
const limit = 300;

test("when the disk refuses, nothing is half accepted, the rest works, and it goes on when there is room", async () => {
  const root = tempDir();
  const worker = await bundleWorker("full-disk-worker");
  const generation = JSON.stringify({ agent: agentOf({}).agent });
  const command = `ulimit -f ${limit}; exec "$0" "$@"`;
  const { stdout } = await promisify(execFile)("sh", ["-c", command, process.execPath, worker, root, generation]);
  const said = JSON.parse(stdout) as {
    sessionId: string;
    accepted: string[];
    refused: string[];
    isTokenGood: boolean;
    status: string;
  };
  expect(said.refused).toEqual(["storage_unavailable", "storage_unavailable", "storage_unavailable"]);
  expect(said.accepted.length).toBeGreaterThan(2);
  expect(said.isTokenGood).toBe(true);
  expect(said.status).toBe("waiting");

  const sessions = await openSessions({ root });
  await sessions.recover();
  await sessions.settled(said.sessionId);
  const events = await eventsOf(sessions, said.sessionId);
  expect(only(events, "message.received").map(({ data }) => data.text)).toEqual(["0", ...said.accepted]);
  expect(events.map(({ index }) => index)).toEqual(events.map((_, at) => at));
  const { continuationToken } = await sessions.get(alice, said.sessionId);
  const next = { sessionId: said.sessionId, continuationToken: continuationToken ?? "", message: "room again" };
  await sessions.followUp(alice, next);
  await sessions.settled(said.sessionId);
  expect((await eventsOf(sessions, said.sessionId)).at(-1)?.type).toBe("session.waiting");
});
