// Runs before each test file.

import { afterAll } from "vitest";
import { removeDirectoriesOfFile } from "./temporary-directory.js";

afterAll(removeDirectoriesOfFile);
