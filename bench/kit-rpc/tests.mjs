// A test file in its long form, as a row of the fault run: the tests are those of `npm test`, told to be thorough.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

export async function runTests(file, env) {
  const directory = mkdtempSync(join(tmpdir(), "galley-tests-"));
  const outputFile = join(directory, "result.json");
  const reporter = ["--reporter=json", `--outputFile=${outputFile}`];
  try {
    const child = spawn(process.execPath, ["node_modules/vitest/vitest.mjs", "run", file, ...reporter], {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ["ignore", "ignore", "inherit"],
    });
    await new Promise((resolve) => child.on("close", resolve));
    const { numTotalTests, numFailedTests, testResults } = JSON.parse(readFileSync(outputFile, "utf8"));
    const failures = testResults.flatMap(({ assertionResults, message }) => [
      ...(message ? [message] : []),
      ...assertionResults.flatMap(({ fullName, failureMessages }) =>
        failureMessages.map((text) => `${fullName}: ${text}`),
      ),
    ]);
    return { tests: numTotalTests, failed: numFailedTests, problems: failures.map((text) => text.slice(0, 4000)) };
  } finally {
    rmSync(directory, { recursive: true });
  }
}
