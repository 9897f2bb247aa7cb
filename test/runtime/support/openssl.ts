import { spawnSync } from "node:child_process";
import { test } from "vitest";

/**
 * A test that takes a certificate, which openssl makes. CI always runs it (`.ci/run` installs the package); elsewhere it
 * is listed as skipped where the command is not there, since `npm test` needs nothing but Node.
 */
export const certificateTest = test.runIf(
  process.env.CI !== undefined || spawnSync("openssl", ["version"]).error === undefined,
);
