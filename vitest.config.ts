import { readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { LongFirst } from "./test/kit/long-first.js";
import { slowTests, testsWithoutLongForm } from "./test/kit/slow-tests.js";
import { TellSkipped } from "./test/kit/tell-skipped.js";

const { version } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8")) as { version: string };

/**
 * One process for each of these files: they end processes, look at the memory and the descriptors of the one they are in,
 * or load modules, before which galley stands in the way of process.exit.
 */
const alone = [
  "test/*.test.ts",
  "test/docs/**/*.test.ts",
  "test/laws/rpc-*.test.ts",
  "test/scenarios/client/**/*.test.ts",
  "test/scenarios/extensions/**/*.test.ts",
  "test/scenarios/sdk/**/*.test.ts",
  "src/cli/run-rpc.test.ts",
  "src/extensions/**/*.test.ts",
  "src/files/disk/**/*.test.ts",
  "src/files/layer/**/*.test.ts",
  "src/files/config/**/*.test.ts",
  "src/files/*.fault.test.ts",
  "src/journal/**/*.test.ts",
  "src/processes/**/*.test.ts",
  "src/sdk/extensions/**/*.test.ts",
  "src/record/read/read-entries.test.ts",
  "src/tools/output/capture.test.ts",
];

/** `npm run test:quick` leaves out what starts a program or needs the built one, and the thorough tests. */
const left = leftOut(import.meta.dirname);

function leftOut(root: string): string[] {
  if (process.env.GALLEY_TEST_QUICK === "1") return slowTests(root);
  // `npm run test:long`: the tests that have a longer form than in `npm test`.
  return process.env.GALLEY_TEST_LONG === "1" ? testsWithoutLongForm(root) : [];
}

export default defineConfig({
  define: { GALLEY_VERSION: JSON.stringify(version) },
  test: {
    // Processes, not threads: what a test does to its process is its own affair.
    pool: "forks",
    // Twice as many as two cores bear: many tests wait for a child process.
    maxWorkers: 4,
    // Unless another order is asked for.
    ...(process.argv.some((word) => word.startsWith("--sequence.")) ? {} : { sequence: { sequencer: LongFirst } }),
    reporters: ["default", new TellSkipped()],
    globalSetup: "test/kit/temporary-root.ts",
    setupFiles: "test/kit/set-up-file.ts",
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      { extends: true, test: { name: "alone", include: alone, exclude: [...left, "**/node_modules/**"] } },
      // The others share what they import: loading it anew for each took more time than to test it.
      {
        extends: true,
        test: {
          name: "together",
          include: ["src/**/*.test.ts", "test/**/*.test.ts"],
          exclude: [...left, ...alone, "**/node_modules/**"],
          isolate: false,
        },
      },
    ],
  },
});
