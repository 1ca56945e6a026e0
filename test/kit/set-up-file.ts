// Runs before each test file.

import { afterAll } from "vitest";
import { removeDirectoriesOfFile } from "./temporary-directory.js";

// A developer may run Ollama while the tests run: no test asks it. Those of discovery have servers of their own.
process.env.GALLEY_OFFLINE ??= "1";
// The developer's own keys would be masked, and text that begins like one held back: no test may depend on them.
for (const name of Object.keys(process.env))
  if (/KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH/i.test(name)) delete process.env[name];

afterAll(removeDirectoriesOfFile);
