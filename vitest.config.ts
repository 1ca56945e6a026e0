import { readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";

const { version } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8")) as { version: string };

export default defineConfig({
  define: { GALLEY_VERSION: JSON.stringify(version) },
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    // Processes, not threads: some tests measure the memory and the descriptors of the process they run in. It goes
    // from file to file and keeps the modules it has loaded, which would otherwise be most of the time.
    pool: "forks",
    isolate: false,
    // One more than two cores bear: many tests wait for a child process.
    maxWorkers: 3,
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
