import { spawnSync } from "node:child_process";
import { test } from "vitest";

/**
 * A test that runs the real bubblewrap. CI always runs it (`.ci/run` installs the package); elsewhere it is listed as
 * skipped where the command is not there, since `npm test` needs nothing but Node.
 */
export const sandboxTest = test.runIf(
  process.env.CI !== undefined || spawnSync("bwrap", ["--version"]).error === undefined,
);
