// `galley --mode rpc`: the protocol on stdin and stdout. The `ready` frame goes out first and alone; everything of
// weight is loaded behind it.

import { writeSync } from "node:fs";
import { systemClock } from "../base/clock.js";
import { GalleyError, messageOf } from "../base/errors.js";
import { logTo } from "../base/log.js";
import { encodeFrame } from "../base/ndjson.js";
import { readyFrame } from "../rpc/ready.js";
import type { RpcServer } from "../rpc/server.js";
import type { CreateAgentSessionOptions } from "../sdk/index.js";
import type { CommandLine } from "./arguments.js";
import { sessionOptions } from "./session-options.js";

const log = logTo((line) => process.stderr.write(line));
const signalCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

export async function runRpc(line: CommandLine): Promise<void> {
  if (line.words.some((word) => word.startsWith("@")))
    throw new GalleyError("start_failed", "Error: @file arguments are not supported in RPC mode");
  for (const warning of line.warnings) log.warn(warning);
  const options = sessionOptions(line, { log, lenient: true });
  const namesModel = options.provider !== undefined || options.modelPattern !== undefined;
  // A model that cannot be had is a failed start, and a failed start writes nothing on stdout.
  const early = namesModel ? await createSession(options) : undefined;

  const { guardStdout } = await import("./guard-stdout.js");
  writeSync(1, encodeFrame(readyFrame()));
  const output = guardStdout();
  const { serveRpc } = await import("../rpc/server.js");
  const session = early ? Promise.resolve(early) : createSession(options);
  session.catch((error: unknown) => finish(Promise.resolve(1), messageOf(error)));
  const server = serveRpc({ input: process.stdin, output, session, clock: systemClock, log });
  output.on("error", () => finish(server.shutdown(1)));
  process.stderr.on("error", () => {}); // a broken stderr has nobody left to tell
  listenForSignals(server);
  for (const origin of ["uncaughtException", "unhandledRejection"] as const)
    process.on(origin, (error: unknown) => server.reportSurprise(origin, error));
  finish(server.done);
}

async function createSession(options: CreateAgentSessionOptions) {
  const { createAgentSession } = await import("../sdk/index.js");
  return (await createAgentSession(options)).session;
}

/** The first signal closes in order, the second does not wait. */
function listenForSignals(server: RpcServer): void {
  let isClosing = false;
  for (const [signal, code] of Object.entries(signalCodes))
    process.on(signal, () => {
      if (isClosing) process.exit(code);
      isClosing = true;
      finish(server.shutdown(code));
    });
}

function finish(ended: Promise<number>, problem?: string): void {
  if (problem !== undefined) log.error(problem);
  void ended.then((code) => process.exit(code));
}
