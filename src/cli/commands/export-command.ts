// `galley --export FILE|ID [OUT]`: a session as one HTML page. Its file is only read, even while it is being written.

import { resolve } from "node:path";
import { GalleyError, messageOf, systemCode } from "../../base/errors.js";
import { logTo } from "../../base/log.js";
import { sanitizeForTerminal } from "../../base/sanitize.js";
import { agentDirectory } from "../../config/agent-directory.js";
import { exportPieces } from "../../html/export-html.js";
import { readSource } from "../../html/read-source.js";
import { exportName, typedPath, writeExport } from "../../html/write-page.js";
import { findSessionFile } from "../../sdk/manage-sessions.js";
import { findSecrets } from "../../sdk/secrets/find-secrets.js";
import type { CommandLine } from "../arguments.js";
import { exitCodes, signalCodes } from "../exit-codes.js";
import { workingDirectory } from "../session-options.js";

const log = logTo((line) => process.stderr.write(sanitizeForTerminal(line)));

/** Throws for a file that cannot be read; a page that cannot be written is a failed run. */
export async function runExport({ options, words, warnings }: CommandLine): Promise<void> {
  const value = (name: string) => options.get(name)?.[0];
  const [output, ...more] = words;
  if (more.length > 0) throw new GalleyError("usage", "--export takes one session and one path to write to.");
  const cwd = workingDirectory(value("cwd"));
  const signal = stopOnSignals();
  const agentDir = agentDirectory(process.env);
  const input = await findSessionFile({ cwd, agentDir, sessionDir: value("session-dir") }, value("export") ?? "");
  const source = await readSource(input, { cwd, agentDir });
  for (const warning of [...warnings, ...source.warnings]) log.warn(warning);
  const name = output ?? exportName({ sessionFile: input, sessionId: source.header.id });
  try {
    const path = typedPath(resolve(cwd, name));
    const { mask: redact } = await findSecrets({ cwd, agentDir });
    await writeExport({ path, pieces: exportPieces(source, { redact }), signal });
    tell(`Exported to: ${path}\n`);
  } catch (error) {
    if (signal.aborted) return; // the exit code says why
    log.error(messageOf(error));
    process.exitCode = exitCodes.failed;
  }
}

/** The first signal removes what is half written, the second does not wait. */
function stopOnSignals(): AbortSignal {
  const stop = new AbortController();
  for (const [signal, code] of Object.entries(signalCodes))
    process.once(signal, () => {
      process.exitCode = code;
      stop.abort();
    });
  return stop.signal;
}

function tell(text: string): void {
  process.stdout.on("error", (error) => {
    if (systemCode(error) !== "EPIPE") process.exitCode = exitCodes.failed; // else the reader has gone
  });
  process.stdout.write(sanitizeForTerminal(text));
}
