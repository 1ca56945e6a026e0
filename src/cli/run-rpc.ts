// `galley --mode rpc`: the protocol on stdin and stdout. The `ready` frame goes out first and alone; heavy code is
// loaded behind it.

import { systemClock } from "../base/clock.js";
import { GalleyError, messageOf } from "../base/errors.js";
import { logTo } from "../base/log.js";
import { encodeFrame } from "../base/ndjson.js";
import { noMask } from "../base/text-mask.js";
import { isOn } from "../config/environment.js";
import { dialectOf } from "../rpc/dialect.js";
import { readyFrame } from "../rpc/ready.js";
import type { RpcServer } from "../rpc/server.js";
import { UiBridge } from "../rpc/ui-bridge.js";
import type { CreateAgentSessionOptions } from "../sdk/index.js";
import { type CommandLine, mayRestrict, unknownText } from "./arguments.js";
import { signalCodes } from "./exit-codes.js";
import { resolveFlags } from "./extension-flags.js";
import { guardStdout, ignoreBrokenStderr } from "./guard-stdout.js";
import { withTheme } from "./rpc-theme.js";
import { sessionOptions, unknownTools } from "./session-options.js";

/** Those of the session, once there is one. */
let secrets = noMask;
const log = logTo((line) => process.stderr.write(secrets.mask(line)));

export async function runRpc(line: CommandLine): Promise<void> {
  if (line.words.some((word) => word.startsWith("@")))
    throw new GalleyError("start_failed", "Error: @file arguments are not supported in RPC mode");
  ignoreBrokenStderr();
  // Before anything else is loaded: stdout is ours alone, and a signal or a broken pipe always ends the program.
  const output = guardStdout();
  let server: RpcServer | undefined;
  let endWhenIdle = () => {};
  const end = (code: number) => finish(server?.shutdown(code) ?? Promise.resolve(code));
  output.on("error", () => end(1));
  listenForSignals(end);

  const dialect = dialectOf(process.argv[1], process.env);
  if (dialect.isQuiet) log.warn = () => {};
  for (const warning of line.warnings) log.warn(warning);
  const ui = line.options.has("no-ui")
    ? undefined
    : new UiBridge({ clock: systemClock, emitsTitle: isOn(process.env, "GALLEY_RPC_EMIT_TITLE") });
  // An option that may restrict, and that no extension turns out to have, is a failed start.
  const isStrict = line.foreign.some(mayRestrict);
  let refusal: GalleyError | undefined;
  const options: CreateAgentSessionOptions = {
    ...sessionOptions(line, { log, lenient: true, hasUI: ui !== undefined }),
    mode: "rpc",
    ui: ui && withTheme(ui.ui, process.env),
    deferModules: !isStrict,
    onShutdownRequest: () => endWhenIdle(),
    ...(line.foreign.length > 0 ? { resolveFlags: flagResolver(line, (refused) => (refusal = refused)) } : {}),
  };
  const { provider, modelPattern, resume, budget } = options;
  // An unavailable model or session is a failed start, and a failed start writes nothing on stdout. So is a limit in
  // dollars for a model whose price is not known.
  const mayFail = isStrict || (provider ?? modelPattern ?? resume ?? budget?.maxCost) !== undefined;
  const early = mayFail ? await createSession(options, line) : undefined;
  if (refusal) {
    await early?.dispose();
    throw refusal;
  }
  output.write(encodeFrame(readyFrame()));

  const { serveRpc } = await import("../rpc/server.js");
  const session = early ? Promise.resolve(early) : createSession(options, line);
  session.catch((error: unknown) => finish(Promise.resolve(1), messageOf(error)));
  const live = serveRpc({ input: process.stdin, output, session, ui, dialect, clock: systemClock, log });
  server = live;
  endWhenIdle = () => {
    void session
      .then((open) => open.waitForIdle())
      .then(() => live.whenAnswered())
      .then(() => end(0));
  };
  for (const origin of ["uncaughtException", "unhandledRejection"] as const)
    process.on(origin, (error: unknown) => live.reportUncaught(origin, error));
  finish(live.done);
  // A run that waits only for one of our timers must not look like a finished program. Two turns from now: the first
  // timer of a program takes a while, and the first answer is due in the first turn.
  setImmediate(() => setImmediate(() => setInterval(() => {}, 2 ** 30)));
}

async function createSession(options: CreateAgentSessionOptions, line: CommandLine) {
  const { createAgentSession } = await import("../sdk/index.js");
  const { session, modelFallbackMessage } = await createAgentSession(options);
  secrets = session.secrets;
  if (modelFallbackMessage !== undefined) log.warn(modelFallbackMessage);
  void session.whenReady().then(() => {
    const problem = unknownTools(line, session.getAllToolNames(), options.ui !== undefined);
    if (problem !== undefined) log.warn(`${problem} It is ignored.`);
  });
  return session;
}

/** Programs pass flags of other programs: an unknown flag is reported once and ignored, unless it may restrict. */
function flagResolver(
  line: CommandLine,
  refuse: (error: GalleyError) => void,
): NonNullable<CreateAgentSessionOptions["resolveFlags"]> {
  const told = new Set<string>();
  return (flags) => {
    const refused = line.foreign.find((one) => mayRestrict(one) && !flags.has(one.flag.slice(2)));
    if (refused) {
      refuse(new GalleyError("usage", unknownText(refused.flag), { details: { mayRestrict: true } }));
      return undefined;
    }
    const { values, problems } = resolveFlags(line, flags);
    for (const problem of problems.filter((one) => !told.has(one))) log.warn(`${problem} It is ignored.`);
    for (const problem of problems) told.add(problem);
    return values;
  };
}

/** The first signal closes in order, the second does not wait. */
function listenForSignals(end: (code: number) => void): void {
  let isClosing = false;
  for (const [signal, code] of Object.entries(signalCodes))
    process.on(signal, () => {
      if (isClosing) process.exit(code);
      isClosing = true;
      end(code);
    });
}

function finish(ended: Promise<number>, problem?: string): void {
  if (problem !== undefined) log.error(problem);
  void ended.then((code) => process.exit(code));
}
