// The start of a one-shot run: a session that may run these prompts, or the reason why nothing is run.

import { GalleyError } from "../../base/errors.js";
import type { Log } from "../../base/log.js";
import { agentDirectory } from "../../config/agent-directory.js";
import { dialectOf } from "../../rpc/dialect.js";
import { createAgentSession } from "../../sdk/index.js";
import type { NoModelReason } from "../../sdk/no-model.js";
import { watchRun } from "../../sdk/run-report/watch-run.js";
import type { CommandLine } from "../arguments.js";
import { resolveFlags as resolveForeign } from "../extension-flags.js";
import { promptsOf } from "../prompts.js";
import { isNamedModule, sessionOptions, unknownTools } from "../session-options.js";

/** Throws what keeps the run from starting. */
export async function openRun(line: CommandLine, { mode, log }: { mode: "print" | "json"; log: Log }) {
  if (line.options.has("quiet") && line.options.has("verbose"))
    throw new GalleyError("usage", "--quiet and --verbose exclude each other.");
  const options = sessionOptions(line, { log, lenient: false });
  const cwd = options.cwd ?? process.cwd();
  let { words } = line;
  let problem: string | undefined;
  let noModel: NoModelReason | undefined;
  const unloaded: string[] = [];
  const { promptsByWord } = dialectOf(process.argv[1], process.env);
  const read = () => {
    const then = line.options.get("then") ?? [];
    if (!promptsByWord) return promptsOf(words, { cwd, further: then });
    const [first = "", ...more] = words.filter((word) => !word.startsWith("@"));
    const opening = words.filter((word) => word.startsWith("@")).concat(first || []);
    return promptsOf(opening, { cwd, further: [...more, ...then] });
  };
  // Which words are messages is known only when it is known which are values of flags.
  const isLate = line.foreign.length > 0;
  const early = isLate ? [] : await read();
  const watch = watchRun({ cwd, agentDir: agentDirectory(process.env) });
  const { session, modelFallbackMessage } = await createAgentSession({
    ...options,
    ...watch.options,
    mode,
    defaultAccess: "workspace",
    onLoadError: ({ path }) => unloaded.push(path),
    onNoModel: (reason) => {
      noModel = reason;
    },
    ...(isLate ? { resolveFlags } : {}),
  });
  function resolveFlags(flags: Parameters<typeof resolveForeign>[1]) {
    const resolved = resolveForeign(line, flags);
    words = resolved.words;
    problem = resolved.problems[0];
    return problem === undefined ? resolved.values : undefined;
  }
  problem ??= unknownTools(line, session.getAllToolNames());
  // It may be a guard: nothing runs without a module that was named.
  const missed = unloaded.find((path) => isNamedModule(line, path, cwd));
  const refusal = usageError(problem) ?? moduleError(missed) ?? modelError(noModel);
  if (refusal) {
    await session.dispose();
    throw refusal;
  }
  const prompts = isLate ? await read() : early;
  if (modelFallbackMessage !== undefined) log.warn(modelFallbackMessage);
  watch.attach(session);
  return { session, prompts, watch };
}

function usageError(problem: string | undefined): GalleyError | undefined {
  return problem === undefined ? undefined : new GalleyError("usage", problem);
}

function moduleError(missed: string | undefined): GalleyError | undefined {
  if (missed === undefined) return undefined;
  return new GalleyError("start_failed", `Nothing was run: ${missed} was named and cannot be used.`);
}

/** Something was set up and cannot be used: the planner must not pass for it. */
function modelError(reason: NoModelReason | undefined): GalleyError | undefined {
  if (reason?.kind === "broken_file") return new GalleyError("start_failed", reason.text);
  return reason?.kind === "unusable" ? new GalleyError("no_model", reason.text) : undefined;
}
