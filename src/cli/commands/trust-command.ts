// `galley trust`: whether the project here may run its own tools and extensions. Everything that would run is shown
// before anything is decided, and without a user or a `--yes` nothing is.

import { createInterface } from "node:readline/promises";
import {
  type ExtensionLocation,
  forgetTrust,
  listDecisions,
  reviewTrust,
  trustReviewed,
} from "../../sdk/extensions/manage-extensions.js";
import { exitCodes } from "../exit-codes.js";
import { shellWord } from "../shell-word.js";
import { unknownOption, wrongUse } from "../verb-help.js";
import { type CommandOutput, runExtensionCommand } from "./extension-command.js";

const known = ["--yes", "--revoke", "--list"];

export async function runTrustCommand(words: readonly string[]): Promise<void> {
  const flags = words.filter((word) => word.startsWith("-"));
  const directories = words.filter((word) => !word.startsWith("-"));
  const unknown = flags.find((flag) => !known.includes(flag));
  if (unknown !== undefined) throw unknownOption("trust", unknown, known);
  if (flags.length > 1) throw wrongUse("trust", `Use one of ${known.join(", ")}.`);
  if (directories.length > 1) throw wrongUse("trust", "galley trust takes one directory.");
  const [flag] = flags;
  const { isTTY } = process.stdin;
  await runExtensionCommand((location, output) => {
    if (flag === "--list") return list(location, output);
    if (flag === "--revoke") return revoke(location, output);
    return trust(location, output, { isAgreed: flag === "--yes", isTTY, directory: directories[0] });
  }, directories[0]);
}

async function trust(
  location: ExtensionLocation,
  output: CommandOutput,
  { isAgreed, isTTY, directory }: { isAgreed: boolean; isTTY: boolean; directory: string | undefined },
): Promise<number> {
  const review = await reviewTrust(location);
  const { decision, question } = review;
  const { state, by, items } = decision;
  output.print(`${question.title}\n${question.lines.map((line) => `${line}\n`).join("")}`);
  if (items.length === 0) return exitCodes.done;
  if (state === "trusted" && by === "earlier decision") {
    output.print("It is trusted in its current state.\n");
    return exitCodes.done;
  }
  if (!isAgreed && !(isTTY && (await asked()))) {
    const words = ["galley trust", ...(directory === undefined ? [] : [shellWord(directory)]), "--yes"].join(" ");
    location.log.error(isTTY ? "Nothing was decided." : `Nothing was decided. To trust it: ${words}`);
    return exitCodes.denied;
  }
  await trustReviewed(location, review);
  output.print("Trusted. If any of it changes, galley asks again.\n");
  return exitCodes.done;
}

/** On stderr: stdout may be read by a program. Anything but a plain yes is a no. */
async function asked(): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(?:es)?$/i.test((await terminal.question("Trust it? [y/N] ")).trim());
  } finally {
    terminal.close();
  }
}

async function revoke(location: ExtensionLocation, output: CommandOutput): Promise<number> {
  const { root, wasKnown } = await forgetTrust(location);
  output.print(wasKnown ? `Removed the decision about ${root}\n` : `Nothing was decided about ${root}\n`);
  return exitCodes.done;
}

async function list(location: ExtensionLocation, output: CommandOutput): Promise<number> {
  const { records, problem } = await listDecisions(location);
  if (problem !== undefined) location.log.error(problem);
  const lines = records.map(({ decision, decidedAt, root }) => `${decidedAt}  ${decision.padEnd(9)}  ${root}\n`);
  output.print(lines.length === 0 ? "No decisions.\n" : lines.join(""));
  return problem === undefined ? exitCodes.done : exitCodes.failed;
}
