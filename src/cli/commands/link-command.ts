// `galley link` and `galley unlink`: galley under the name of another agent, for programs that start that one.

import { symlinkSync, unlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { GalleyError } from "../../base/errors.js";
import { sanitizeForTerminal } from "../../base/sanitize.js";
import { type LinkName, linkNames, onPath, ownProgram, whatIsAt } from "../agent-links.js";
import { exitCodes } from "../exit-codes.js";
import { unknownOption, wrongUse } from "../verb-help.js";

export function runLinkCommand(verb: "link" | "unlink", words: readonly string[]): void {
  const { name, folder } = read(verb, words);
  const path = join(folder, name);
  const there = whatIsAt(path);
  if (there === "other") return tell(`${path} is another program. Choose another --dir, or remove it yourself.`, false);
  if (verb === "unlink" && there === "nothing") return tell(`There is no ${path}.`);
  if (there === "ours") unlinkSync(path);
  if (verb === "unlink") return tell(`Removed ${path}.`);
  try {
    symlinkSync(ownProgram(), path); // fails where something came meanwhile
  } catch (error) {
    return tell(`${path} could not be made: ${(error as Error).message}`, false);
  }
  tell(`${path} starts galley in the place of ${name}.`);
}

function read(verb: "link" | "unlink", words: readonly string[]): { name: LinkName; folder: string } {
  const flag = words.findIndex((word) => word === "--dir" || word.startsWith("--dir="));
  const isInline = words[flag]?.startsWith("--dir=");
  const given = flag < 0 ? undefined : isInline ? words[flag]?.slice("--dir=".length) : words[flag + 1];
  const rest = flag < 0 ? words : words.toSpliced(flag, isInline ? 1 : 2);
  const unknown = rest.find((word) => word.startsWith("-"));
  if (unknown !== undefined) throw unknownOption(verb, unknown, ["--dir"]);
  const name = linkNames.find((known) => known === rest[0]);
  if (name === undefined || rest.length !== 1 || (flag >= 0 && !given))
    throw wrongUse(verb, `galley ${verb} takes pi or omp, and --dir with a folder.`);
  const own = given === undefined ? onPath("galley") : undefined;
  if (given === undefined && own === undefined)
    throw new GalleyError("usage", `galley is not on PATH. Name a folder that is: galley ${verb} ${name} --dir DIR`);
  return { name, folder: given === undefined ? dirname(own as string) : resolve(given) };
}

function tell(text: string, isDone = true): void {
  (isDone ? process.stdout : process.stderr).write(sanitizeForTerminal(`${text}\n`));
  if (!isDone) process.exitCode = exitCodes.failed;
}
