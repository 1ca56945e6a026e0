// `galley review`: what is pending in this project, shown and decided at the terminal. No model and no extension is loaded.

import { realpathSync } from "node:fs";
import { GalleyError, messageOf } from "../../base/errors.js";
import { silentLog } from "../../base/log.js";
import { sanitizeForTerminal } from "../../base/sanitize.js";
import { agentDirectory } from "../../config/agent-directory.js";
import { listPendingSessions, type PendingLocation } from "../../sdk/pending-sessions.js";
import { findAction } from "../../sdk/review/find-by-id.js";
import { maskedReview } from "../../sdk/review/masked-review.js";
import { projectReview } from "../../sdk/review/project-review.js";
import { findSecrets } from "../../sdk/secrets/find-secrets.js";
import { findSessionEnvironment } from "../../sdk/session-environment.js";
import { createTerminalAccess } from "../create-terminal-access.js";
import { exitCodes, signalCodes } from "../exit-codes.js";
import { keyFileIn } from "../terminal/create-input-access.js";
import { unknownOption, wrongUse } from "../verb-help.js";
import { reasonOf } from "./review-output.js";

interface ReviewWords {
  readonly id?: string | undefined;
  readonly sessionDir?: string | undefined;
  readonly withExitCode: boolean;
}

export async function runReviewCommand(words: readonly string[]): Promise<void> {
  try {
    await review(parse(words));
  } catch (error) {
    process.stderr.write(sanitizeForTerminal(`galley: ${messageOf(error)}\n`));
    process.exitCode = exitCodes[reasonOf(error)];
  }
}

async function review({ id, sessionDir, withExitCode }: ReviewWords): Promise<void> {
  const { TERM } = process.env;
  if (!process.stdin.isTTY || !process.stdout.isTTY || !TERM || TERM === "dumb")
    throw new GalleyError("usage", "Use  galley pending  and  galley show ID.");
  const cwd = realpathSync(process.cwd());
  const agentDir = agentDirectory(process.env);
  const location: PendingLocation = { cwd, agentDir, sessionDir, log: silentLog };
  const all = id === undefined ? [] : (await listPendingSessions(location)).flatMap(({ actions }) => actions);
  const key = id === undefined ? undefined : findAction(all, id).name;
  const { settings } = await findSessionEnvironment({ cwd, agentDir });
  const { runReview } = await import("../../tui/review/run-review.js");
  const stopped = new AbortController();
  for (const signal of Object.keys(signalCodes) as (keyof typeof signalCodes)[])
    process.once(signal, () => stopped.abort(signal));
  const left = await runReview({
    source: maskedReview(projectReview(location), await findSecrets(location)),
    access: {
      ...createTerminalAccess({ cwd, agentDir, env: process.env, settings, log: silentLog }),
      keyFile: () => keyFileIn(agentDir),
    },
    hasMouse: settings.get("terminal.mouse"),
    key,
    env: process.env,
    input: process.stdin,
    output: process.stdout,
    signal: stopped.signal,
  });
  const ended = stopped.signal.aborted ? signalCodes[stopped.signal.reason as keyof typeof signalCodes] : undefined;
  process.exitCode = ended ?? (withExitCode && left > 0 ? exitCodes.pending : exitCodes.done);
}

function parse(words: readonly string[]): ReviewWords {
  let [id, sessionDir]: (string | undefined)[] = [];
  let withExitCode = false;
  for (let index = 0; index < words.length; index++) {
    const word = words[index] as string;
    const [, inline] = /^--session-dir=(.*)$/s.exec(word) ?? [];
    if (word === "--exit-code") withExitCode = true;
    else if (word === "--session-dir" || inline !== undefined) {
      sessionDir = inline ?? words[++index];
      if (sessionDir === undefined) throw wrongUse("review", "--session-dir needs a value.");
    } else if (word.startsWith("-")) throw unknownOption("review", word, ["--exit-code", "--session-dir"]);
    else if (id !== undefined) throw wrongUse("review", "Name one pending action to review.");
    else id = word;
  }
  return { id, sessionDir, withExitCode };
}
