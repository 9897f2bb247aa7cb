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
    // Conditions, not times: these limits only end what hangs, and a busy machine takes many times longer than a quiet one.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
