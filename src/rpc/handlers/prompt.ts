// `prompt` and `abort_and_prompt`: answered on acceptance, never held for the length of a run. What fails after the
// acceptance, or instead of it, is told by a second response with the same id.

import { type Clock, sleep } from "../../base/clock.js";
import { GalleyError } from "../../base/errors.js";
import type { RpcCommand } from "../../protocol/commands.js";
import type { AgentSession } from "../../sdk/index.js";
import type { HandlerContext } from "../handler.js";
import type { Request } from "../request.js";
import { boundedImages } from "./images.js";

type Command<C> = Extract<RpcCommand, { type: C }>;

const priorRunPatienceMs = 30_000;

export async function prompt({ session, request }: HandlerContext, command: Command<"prompt">): Promise<void> {
  const { message, streamingBehavior } = command;
  const images = boundedImages(command);
  return submit(request, (onAccepted) =>
    session.prompt(message, {
      onAccepted,
      images,
      ...(streamingBehavior ? { streamingBehavior } : {}),
    }),
  );
}

export async function abortAndPrompt(
  { session, request, clock }: HandlerContext,
  command: Command<"abort_and_prompt">,
): Promise<void> {
  const { message } = command;
  const images = boundedImages(command);
  await session.abort();
  await submit(request, async (onAccepted) => {
    if (session.isStreaming) {
      onAccepted(); // a tool that must not be cut short still runs: neither the host nor the lane waits for it
      await priorRunEnded(session, clock);
    }
    await session.prompt(message, { onAccepted, images });
  });
}

/** Resolves with the acceptance or the failure, whichever comes first: then the lane goes on. */
function submit(request: Request, start: (onAccepted: () => void) => Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const accept = () => {
      request.succeed();
      resolve();
    };
    start(accept).then(accept, (error: unknown) => {
      accept(); // the success line always comes first
      request.fail(error);
    });
  });
}

async function priorRunEnded(session: AgentSession, clock: Clock): Promise<void> {
  const patience = new AbortController();
  const bound = sleep(clock, priorRunPatienceMs, patience.signal).then(
    () => "late",
    () => "cancelled",
  );
  const first = await Promise.race([session.waitForIdle(), bound]);
  patience.abort();
  if (first === "late")
    throw new GalleyError("timeout", "Timed out waiting for prior agent run to finish before prompting.");
}
