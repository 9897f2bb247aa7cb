import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^@cursor\/bdk$/, replacement: source("./runtime/authoring/index.ts") },
      { find: /^@cursor\/bdk\/(serve|build)$/, replacement: source("./cli/api/$1.ts") },
      { find: /^@cursor\/bdk\/(.+)$/, replacement: source("./runtime/authoring/$1.ts") },
    ],
  },
  test: {
    include: ["test/**/*.test.ts", "runtime/**/*.test.ts", "compiler/**/*.test.ts", "cli/**/*.test.ts"],
    globalSetup: ["./test/global-setup.ts"],
    setupFiles: ["./test/property-seed.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Conditions, not times: a busy machine takes longer.
    expect: { poll: { timeout: 15_000 } },
  },
});
