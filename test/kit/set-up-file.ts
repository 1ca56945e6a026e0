// Runs before each test file.

import { afterAll } from "vitest";
import { removeDirectoriesOfFile } from "./temporary-directory.js";

// A developer may run Ollama while the tests run: no test asks it. Those of discovery have servers of their own.
process.env.GALLEY_OFFLINE ??= "1";

afterAll(removeDirectoriesOfFile);
