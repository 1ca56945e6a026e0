// Where the code of each verb is. Nothing of it is loaded before it is used.

import type { PendingVerb } from "./commands/pending-words.js";
import { type VerbName, verbNamed } from "./verbs.js";

type Run = (words: readonly string[]) => Promise<void>;

const pending =
  (verb: PendingVerb): Run =>
  async (words) =>
    (await import("./commands/pending-command.js")).runPendingCommand(verb, words);

/** The compiler proves that every verb of the table is here. */
const runs: Readonly<Record<VerbName, Run>> = {
  pending: pending("pending"),
  review: async (words) => (await import("./commands/review-command.js")).runReviewCommand(words),
  show: pending("show"),
  apply: pending("apply"),
  discard: pending("discard"),
  rebase: pending("rebase"),
  changes: pending("changes"),
  undo: pending("undo"),
  redo: pending("redo"),
  recover: pending("recover"),
  config: async (words) => (await import("./commands/run-config.js")).runConfigCommand(words),
  sessions: async (words) => (await import("./commands/sessions-command.js")).runSessionsCommand(words),
  tools: async (words) => (await import("./commands/tools-command.js")).runToolsCommand(words),
  exec: async (words) => (await import("./commands/exec-command.js")).runExecCommand(words),
  trust: async (words) => (await import("./commands/trust-command.js")).runTrustCommand(words),
  login: async (words) => (await import("./commands/login-command.js")).runLoginCommand(words),
  logout: async (words) => (await import("./commands/logout-command.js")).runLogoutCommand(words),
  models: async (words) => (await import("./commands/models-command.js")).runModelsCommand(words),
  import: async (words) => (await import("./commands/import-command.js")).runImportCommand(words),
  link: async (words) => (await import("./commands/link-command.js")).runLinkCommand("link", words),
  unlink: async (words) => (await import("./commands/link-command.js")).runLinkCommand("unlink", words),
  doctor: async (words) => (await import("./commands/doctor-command.js")).runDoctorCommand(words),
  completion: async (words) => (await import("./commands/completion-command.js")).runCompletionCommand(words),
  help: async (words) => (await import("./commands/help-command.js")).runHelpCommand(words),
};

/** False: the first word is no verb. */
export async function runVerb([name = "", ...words]: readonly string[]): Promise<boolean> {
  const verb = verbNamed(name);
  if (!verb) return false;
  const end = words.indexOf("--");
  const wantsHelp = (end === -1 ? words : words.slice(0, end)).some((word) => word === "--help" || word === "-h");
  await (wantsHelp ? runs.help([verb.name]) : runs[verb.name](words));
  return true;
}
