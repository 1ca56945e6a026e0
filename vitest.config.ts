import { readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";

const { version } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8")) as { version: string };

export default defineConfig({
  define: { GALLEY_VERSION: JSON.stringify(version) },
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    // Processes, not threads, and one for each file: some tests measure the memory and the descriptors of the process
    // they run in, and others stand in the way of process.exit.
    pool: "forks",
    // One more than two cores bear: many tests wait for a child process.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
