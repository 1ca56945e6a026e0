// The program `galley`: reads the command line and starts the chosen mode. Loads only what that mode needs; everything
// between the spawn and the first frame of RPC mode is in this one file's bundle.

import { join } from "node:path";
import { GalleyError, messageOf } from "../base/errors.js";
import { homedir } from "../base/home.js";
import { encodeFrame } from "../base/ndjson.js";
import { sanitizeForTerminal } from "../base/sanitize.js";
import { type Dialect, dialectOf, versionText } from "../rpc/dialect.js";
import { type CommandLine, isDriven, modeOf, parseArguments, refuseForeign, wantedEnd } from "./arguments.js";
import { type ExitReason, exitCodes } from "./exit-codes.js";
import { suggestionsOf } from "./print/run-outcome.js";
import { runRpc } from "./run-rpc.js";

declare const GALLEY_VERSION: string;

start(process.argv.slice(2)).catch((error: unknown) => {
  // A program that drives galley tells one failed start from another by the text, not by the code.
  const isUsage = GalleyError.is(error, "usage") && (!isDriven(process.argv) || error.details?.mayRestrict === true);
  const reason: ExitReason = isUsage ? "usage" : "startup";
  const meant = suggestionsOf(error);
  const message = `${messageOf(error)}${meant && `.${meant}`}`;
  process.stderr.write(sanitizeForTerminal(`${message}\n`));
  process.exitCode = exitCodes[reason];
  const type = wantedEnd(process.argv);
  if (type === undefined) return;
  process.stdout.on("error", () => {}); // the reader has gone
  const answer = type === "result" ? { is_error: true, result: "" } : {};
  process.stdout.write(encodeFrame({ type, ...answer, code: exitCodes[reason], reason, message, pending: [] }));
});

async function start(argv: readonly string[]): Promise<void> {
  const dialect = dialectOf(process.argv[1], process.env);
  useDirectoryOf(dialect);
  // Programs start galley with an option first, and then the verbs are not loaded.
  const mayBeVerb = argv[0] !== undefined && !argv[0].startsWith("-");
  if (mayBeVerb && (await (await import("./run-verb.js")).runVerb(argv))) return;
  const line: CommandLine = parseArguments(argv);
  const { options, words } = line;
  if (["version", "help", "export", "list-models"].some((name) => options.has(name))) refuseForeign(line);
  if (options.has("version")) {
    process.stdout.write(`${versionText(dialect, GALLEY_VERSION)}\n`);
    return;
  }
  if (options.has("help")) return (await import("./commands/help-command.js")).runHelpCommand([]);
  const mode = modeOf(line);
  if (options.has("export")) return (await import("./commands/export-command.js")).runExport(line);
  if (mode === "rpc") return runRpc(line);
  if (options.has("list-models")) return (await import("./commands/models-command.js")).printModelNames(line);
  if (!line.isLiteral) await refuseMisspelt(words, { isPrompt: mode !== undefined || options.has("print") });
  const isOneShot = mode !== undefined || options.has("print") || (!process.stdin.isTTY && !options.has("plain"));
  if (isOneShot) return (await import("./print/run-print.js")).runPrint(line, mode ?? "text");
  return (await import("./run-terminal.js")).runTerminal(line);
}

/** Where a variable names none; the program's own lookups then find it everywhere. */
function useDirectoryOf({ directory }: Dialect): void {
  const { env } = process;
  if (directory === ".galley" || env.GALLEY_AGENT_DIR || env.PI_CODING_AGENT_DIR || env.GALLEY_CONFIG_DIR) return;
  env.GALLEY_AGENT_DIR = join(homedir(), directory, "agent");
}

async function refuseMisspelt(words: readonly string[], { isPrompt }: { isPrompt: boolean }): Promise<void> {
  const [{ meantCommand }, { shellWord }] = await Promise.all([
    import("./misspelt-command.js"),
    import("./shell-word.js"),
  ]);
  const meant = meantCommand(words, { isPrompt });
  if (meant === undefined) return;
  const problem =
    meant === words[0]
      ? `Put the command first: galley ${meant} …`
      : `Unknown command ${words[0]}. Did you mean ${meant}?`;
  throw new GalleyError("usage", `${problem} As a prompt:  galley -p -- ${words.map(shellWord).join(" ")}`);
}
