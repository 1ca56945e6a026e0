// A program of the user in a session that may have no processes.

import { GalleyError } from "../../base/errors.js";
import type { AgentSessionDeps } from "../agent-session-deps.js";
import type { ProgramOutcome, ProgramRequest } from "./program.js";

export async function executeProgram(
  { runProgram }: Pick<AgentSessionDeps, "runProgram">,
  request: ProgramRequest,
): Promise<ProgramOutcome> {
  if (!runProgram) throw new GalleyError("unsupported", "This session runs no commands.");
  return runProgram(request);
}
