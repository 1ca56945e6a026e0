// Runs before each test file.

import childProcess from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import { afterAll } from "vitest";
import { removeDirectoriesOfFile } from "./temporary-directory.js";

// A developer may run Ollama while the tests run: no test asks it. Those of discovery have servers of their own.
process.env.GALLEY_OFFLINE ??= "1";
// The developer's own keys would be masked, and text that begins like one held back: no test may depend on them.
for (const name of Object.keys(process.env))
  if (/KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH/i.test(name)) delete process.env[name];

if (process.env.GALLEY_TEST_QUICK === "1") startNoProgram();

afterAll(removeDirectoriesOfFile);

/** What slow-tests.ts took for a test that starts none. */
function startNoProgram(): void {
  const refuse = (file: string): never => {
    throw new Error(`This test starts a program (${file}): begin its file with "// Starts programs."`);
  };
  const starters = ["spawn", "spawnSync", "exec", "execSync", "execFile", "execFileSync", "fork"] as const;
  for (const name of starters) Object.assign(childProcess, { [name]: refuse });
  syncBuiltinESMExports();
}
