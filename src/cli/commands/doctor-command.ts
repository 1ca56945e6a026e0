// `galley doctor`: each line is fine, or says how to mend it.

import { sanitizeForTerminal } from "../../base/sanitize.js";
import { diagnose } from "../../sdk/diagnose.js";
import type { Finding } from "../../sdk/finding.js";
import { linkNames, onPath, whatIsAt } from "../agent-links.js";
import { exitCodes } from "../exit-codes.js";
import { ignoreBrokenPipe } from "../ignore-broken-pipe.js";
import { unknownOption } from "../verb-help.js";

export async function runDoctorCommand(words: readonly string[]): Promise<void> {
  ignoreBrokenPipe();
  const unknown = words.find((word) => word !== "--json");
  if (unknown !== undefined) throw unknownOption("doctor", unknown, ["--json"]);
  const findings = [...(await diagnose(process.cwd())), ...linkNames.flatMap(linkFinding)];
  const isOk = findings.every((finding) => finding.isOk);
  const text = words.includes("--json")
    ? `${JSON.stringify({ isOk, findings })}\n`
    : sanitizeForTerminal(findings.map(linesOf).join(""));
  // The parser would stay for the next question.
  process.stdout.write(text, () => process.exit(isOk ? exitCodes.done : exitCodes.failed));
}

/** Which program a host starts that looks for another agent. */
function linkFinding(name: string): Finding[] {
  const path = onPath(name);
  if (path === undefined) return [];
  const text = whatIsAt(path) === "ours" ? `${path} starts galley` : `${path} is another program`;
  return [{ name, isOk: true, text }];
}

function linesOf({ name, isOk, text, mend }: Finding): string {
  const line = `${isOk ? "ok     " : "problem"}  ${name.padEnd(9)} ${text}\n`;
  return mend === undefined ? line : `${line}${"".padEnd(19)} ${mend}\n`;
}
