import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** What every test is run with. */
const shared = {
  resolve: {
    alias: [
      { find: /^@cursor\/bdk$/, replacement: source("./runtime/authoring/index.ts") },
      { find: /^@cursor\/bdk\/(serve|build)$/, replacement: source("./cli/api/$1.ts") },
      { find: /^@cursor\/bdk\/(.+)$/, replacement: source("./runtime/authoring/$1.ts") },
    ],
  },
  test: {
    setupFiles: ["./test/property-seed.ts"],
    // Conditions, not times: these limits only end what hangs, and a busy machine takes many times longer than a quiet one.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
  },
};

/** Tests of the compiler and of commands: they start one process after another, so two files at a time use two cores. */
const commands = ["test/*.test.ts", "test/{cli,unit,types}/**/*.test.ts"];

export default defineConfig({
  test: {
    globalSetup: ["./test/global-setup.ts"],
    projects: [
      {
        ...shared,
        test: { ...shared.test, name: "commands", include: commands, maxWorkers: 2, sequence: { groupOrder: 0 } },
      },
      {
        ...shared,
        // One file at a time: they start servers, and measure what those do.
        test: {
          ...shared.test,
          name: "servers",
          include: ["test/**/*.test.ts"],
          exclude: commands,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
