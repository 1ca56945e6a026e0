// Plain mode: a conversation in whole lines, for screen readers and for terminals that cannot draw. It loads nothing that
// draws.

import { messageOf } from "../../base/errors.js";
import type { AgentSession } from "../../sdk/index.js";
import { runPlainCommand } from "./plain-commands.js";
import type { LineReader, PlainIO } from "./plain-io.js";
import { saidBy } from "./plain-log.js";

export interface PlainOptions {
  readonly session: AgentSession;
  readonly io: PlainIO;
  readonly lines: LineReader;
  /** Shows that a line is awaited. */
  readonly promptUser: () => void;
  readonly firstPrompt?: string;
  readonly login: (provider: string) => Promise<boolean>;
}

/** Returns the exit code. Ends with `/quit`, or with the end of the input. */
export async function runPlainMode({
  session,
  io,
  lines,
  promptUser,
  firstPrompt,
  login,
}: PlainOptions): Promise<number> {
  let code: number | undefined;
  const leave = (next: number) => {
    code = next;
  };
  session.subscribe((event) => {
    for (const { who, text } of saidBy(event)) io.say(who, text);
  });
  const program = { session, io, leave, login };
  const take = async (line: string) => {
    try {
      if (line.startsWith("/")) await runPlainCommand(program, line.trim());
      else if (line.trim() !== "") await session.prompt(line.trim(), { streamingBehavior: "steer" });
    } catch (error) {
      io.say("galley", messageOf(error));
    }
  };
  // While a run is on, a line steers it, and a command acts beside it.
  lines.onLine = (line) => void take(line);
  if (firstPrompt) await take(firstPrompt);
  while (code === undefined) {
    promptUser();
    const line = await lines.nextPrompt();
    if (line === undefined) return 0;
    await take(line);
  }
  return code;
}
