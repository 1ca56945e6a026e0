// `galley tools run NAME JSON`: one tool in this project, with the access of a one-shot run and without a model. Its
// result goes to stdout; what it staged and what failed go to stderr.

import { text as readAll } from "node:stream/consumers";
import { GalleyError, messageOf } from "../../base/errors.js";
import { isObject, type JsonObject } from "../../base/json.js";
import { nearestName } from "../../base/nearest-name.js";
import { placeOf } from "../../config/read-yaml.js";
import { parseAssignment } from "../../config/settings/assignment.js";
import { type ExtensionLocation, untrustedModules } from "../../sdk/extensions/manage-extensions.js";
import { type AgentSession, createAgentSession, type ToolRun } from "../../sdk/index.js";
import { forUser } from "../../sdk/review/decided.js";
import { type CommandLine, parseArguments, refuseForeign } from "../arguments.js";
import { exitCodes } from "../exit-codes.js";
import { findJsonProblem } from "../json-place.js";
import { builtInToolNames, isNamedModule, sessionOptions } from "../session-options.js";
import { shellWord } from "../shell-word.js";
import { stopBySignal } from "../stop-by-signal.js";
import { wrongUse } from "../verb-help.js";
import { toolRunOptions } from "../verbs.js";
import { type CommandOutput, runExtensionCommand } from "./extension-command.js";

export async function runToolsRun(words: readonly string[]): Promise<void> {
  const isJson = words.includes("--json");
  const line = parseArguments(words.filter((word) => word !== "--json"));
  refuseForeign(line);
  const other = [...line.options.keys()].find((name) => !toolRunOptions.includes(name));
  if (other !== undefined) throw wrongUse("tools", `galley tools run does not take --${other}.`);
  const [name, given, ...more] = line.words;
  if (name === undefined) throw wrongUse("tools", "Name the tool to run.");
  if (given === undefined)
    throw wrongUse("tools", "Give the tool's arguments as JSON, for example '{}', or - to read them from stdin.");
  if (more.length > 0)
    throw wrongUse("tools", `galley tools run takes a name and one JSON text; quote it: '${given}…'`);
  // Before any extension is loaded, which is given no stdin.
  const args = parseToolArguments(given === "-" ? await readAll(process.stdin) : given);
  await runExtensionCommand(
    (location, output) => runInSession({ name, args, line, isJson }, { location, output }),
    line.options.get("cwd")?.[0],
  );
}

/** Throws `usage` with the place of what is wrong. */
export function parseToolArguments(text: string): JsonObject {
  const problem = findJsonProblem(text);
  if (problem) {
    const place = placeOf(text, problem.offset);
    throw new GalleyError("usage", `The arguments are not valid JSON at ${place}: expected ${problem.expected}.`);
  }
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) throw new GalleyError("usage", 'The arguments must be a JSON object, such as {"path": "src"}.');
  return value;
}

interface Request {
  readonly name: string;
  readonly args: JsonObject;
  readonly line: CommandLine;
  readonly isJson: boolean;
}

interface Around {
  readonly location: ExtensionLocation;
  readonly output: CommandOutput;
}

async function runInSession(request: Request, around: Around): Promise<number> {
  const { line } = request;
  const { log, cwd } = around.location;
  const unloaded: string[] = [];
  const options = sessionOptions(line, { log, lenient: false });
  const { session } = await createAgentSession({
    ...options,
    // A session of its own, whatever the settings say.
    assignments: [...(options.assignments ?? []), parseAssignment("autoResume=false")],
    contextFiles: [],
    defaultAccess: "workspace",
    onLoadError: ({ path }) => unloaded.push(path),
  });
  const stop = new AbortController();
  const signal = stopBySignal(stop);
  try {
    // It may be a guard: nothing runs without a module that was named.
    const missed = unloaded.find((path) => isNamedModule(line, path, cwd));
    if (missed !== undefined)
      throw new GalleyError("start_failed", `Nothing was run: ${missed} was named and cannot be used.`);
    const code = await run(session, { ...request, stop: stop.signal }, around);
    return signal() ?? code;
  } finally {
    await session.dispose();
  }
}

async function run(
  session: AgentSession,
  { name, args, line, isJson, stop }: Request & { stop: AbortSignal },
  { location, output }: Around,
): Promise<number> {
  const { log } = location;
  const { secrets } = session;
  session.sessionManager.setName(`galley tools run ${name}`, "auto");
  const ran = await session.runTool({ name, args, signal: stop }).catch((error: unknown) => {
    if (GalleyError.is(error, "not_found")) return unknownTool(name, { session, location, line });
    if (GalleyError.is(error, "invalid_argument")) throw new GalleyError("usage", error.message);
    throw error;
  });
  if ("problem" in ran) {
    log.error(ran.problem);
    return exitCodes[ran.reason];
  }
  const { result, isDenied } = ran;
  const applied = result.isError ? { told: [] } : await applyStaged(session, line);
  const left = await session.getPendingActions();
  const plans = left.filter(({ kind }) => kind === "plan");
  const { isOnDisk } = session.sessionManager;
  if (isJson) {
    const { content, details, isError = false } = result;
    const pending = isOnDisk ? plans.map(({ id }) => id) : [];
    const rest = { isError, isDenied, pending, applied: applied.told };
    const failure = applied.failure === undefined ? {} : { error: applied.failure };
    output.print(`${secrets.line(JSON.stringify({ tool: name, content, details, ...rest, ...failure }))}\n`);
  } else if (result.isError) log.error(secrets.mask(textOf(result)));
  else if (textOf(result) !== "") output.print(secrets.mask(`${textOf(result)}\n`));
  if (!isJson) for (const text of applied.told) output.print(`${text}\n`);
  if (applied.failure !== undefined) log.error(applied.failure);
  if (!isJson) for (const text of leftTexts(left, { isOnDisk, line })) process.stderr.write(`${text}\n`);
  if (isDenied) return exitCodes.denied;
  if (result.isError || applied.failure !== undefined) return exitCodes.failed;
  return plans.length > 0 && line.options.has("exit-code") ? exitCodes.pending : exitCodes.done;
}

/** `--yes`: in order, up to the first that fails. */
async function applyStaged(
  session: AgentSession,
  { options }: CommandLine,
): Promise<{ told: string[]; failure?: string }> {
  const told: string[] = [];
  if (!options.has("yes")) return { told };
  for (const { id, label } of (await session.getPendingActions()).toReversed()) {
    if (!session.pendingActions.some((action) => action.id === id)) continue; // it was applied with another one
    try {
      const decision = { action: "apply", reason: "--yes", by: "user", pendingId: id } as const;
      const { first, more } = forUser((await session.resolvePendingAction(decision)).decided);
      told.push([first, ...more].join("\n"));
    } catch (error) {
      return { told, failure: `${id} was not applied: ${label} – ${messageOf(error)}` };
    }
  }
  return { told };
}

type Left = Awaited<ReturnType<AgentSession["getPendingActions"]>>;

function leftTexts(left: Left, { isOnDisk, line }: { isOnDisk: boolean; line: CommandLine }): string[] {
  const rows = (actions: Left) => actions.map(({ id, label }) => `  ${id}  ${label}`).join("\n");
  const plans = left.filter(({ kind }) => kind === "plan");
  const closures = left.filter(({ kind }) => kind === "closure");
  const sessionDir = line.options.get("session-dir")?.[0];
  const also = sessionDir === undefined ? "" : ` --session-dir ${shellWord(sessionDir)}`;
  const [first] = plans;
  const [id] = plans.length === 1 && first ? [first.id] : ["ID"];
  const keep = `See it with galley show ${id}${also}; decide with galley apply ${id}${also} or galley discard ${id}${also}.`;
  const gone = "The session is not kept, so it is gone. Use --yes, or leave out --no-session to decide later.";
  return [
    ...(plans.length > 0 ? [`Staged, nothing is written yet:\n${rows(plans)}\n${isOnDisk ? keep : gone}`] : []),
    ...(closures.length > 0
      ? [`Discarded undecided, nothing was done; use --yes to apply it:\n${rows(closures)}`]
      : []),
  ];
}

function textOf({ content }: ToolRun["result"]): string {
  return content
    .map((block) =>
      block.type === "text" ? block.text : `[${block.mimeType}, ${block.data.length} base64 characters]`,
    )
    .join("\n")
    .trimEnd();
}

interface Unknown {
  readonly problem: string;
  readonly reason: "usage" | "denied";
}

/** A tool that is not there: mistyped, switched off, or of a project that is not trusted. */
async function unknownTool(
  name: string,
  { session, location, line }: { session: AgentSession; location: ExtensionLocation; line: CommandLine },
): Promise<Unknown> {
  const names = session.getAllToolNames();
  const nearest = nearestName(name, [...new Set([...names, ...builtInToolNames])]);
  const untrusted = line.options.has("trust-project") ? [] : await untrustedModules(location);
  const wrong = (rest: string): Unknown => ({ problem: `Unknown tool ${name}. ${rest}`, reason: "usage" });
  if (nearest === name) return wrong("It is built in, but switched off by a setting, or it needs a user to ask.");
  if (nearest !== undefined && !untrusted.some((module) => module.name === name))
    return wrong(`Did you mean ${nearest}?`);
  if (untrusted.length === 0) return wrong(`Tools here: ${names.join(", ")}.`);
  const what =
    untrusted.length === 1 ? "1 module of this project is" : `${untrusted.length} modules of this project are`;
  const mend = "Review and trust with  galley trust  or, for this run only, use --trust-project.";
  return { problem: `Unknown tool ${name}. ${what} not trusted and so not loaded. ${mend}`, reason: "denied" };
}
