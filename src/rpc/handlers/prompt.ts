// `prompt` and `abort_and_prompt`: answered on acceptance, never held for the length of a run. A failure after the
// acceptance, or instead of it, is a second response with the same id.

import { type Clock, sleep } from "../../base/clock.js";
import { GalleyError } from "../../base/errors.js";
import type { RpcCommand } from "../../protocol/commands.js";
import type { Disposition, RpcData } from "../../protocol/data.js";
import type { AgentSession, PromptOptions } from "../../sdk/index.js";
import type { HandlerContext } from "../handler.js";
import { boundedImages } from "./images.js";

type Command<C> = Extract<RpcCommand, { type: C }>;
type Progress = Required<Pick<PromptOptions, "onAccepted" | "onPlaced">>;

const priorRunPatienceMs = 30_000;

export async function prompt(context: HandlerContext, command: Command<"prompt">): Promise<RpcData["prompt"]> {
  const { message, streamingBehavior } = command;
  const images = boundedImages(command);
  return submit(context, (progress) =>
    context.session.prompt(message, { ...progress, images, ...(streamingBehavior ? { streamingBehavior } : {}) }),
  );
}

export async function abortAndPrompt(context: HandlerContext, command: Command<"abort_and_prompt">): Promise<void> {
  const { session, clock } = context;
  const images = boundedImages(command);
  await session.abort();
  await submit(context, async (progress) => {
    if (session.isStreaming) {
      progress.onAccepted(); // a tool that must not be cut short still runs: neither the host nor the lane waits for it
      await priorRunEnded(session, clock);
    }
    await session.prompt(command.message, { ...progress, images });
  });
}

/** Resolves with the acceptance or the failure, whichever comes first: then the lane goes on. */
function submit(
  { session, request, results, features, dialect, commandListUpdates }: HandlerContext,
  start: (progress: Progress) => Promise<void>,
): Promise<RpcData["prompt"]> {
  const ticket = results.open(request.id);
  return new Promise((resolve, reject) => {
    let isAccepted = false;
    let disposition: Disposition = "handled"; // no run comes of it, unless it gets a place
    const onPlaced: Progress["onPlaced"] = (message, place) => {
      disposition = place === "run" ? "started" : "queued";
      ticket.place(message, place);
    };
    const accept = () => {
      if (isAccepted) return;
      isAccepted = true;
      request.succeed(request.type === "prompt" ? { disposition } : undefined);
      ticket.accept();
      resolve({ disposition });
    };
    const ended = () => {
      if (!isAccepted && features.has("prompt-result") && request.type === "prompt") {
        ticket.drop();
        return resolve({ disposition, agentInvoked: false });
      }
      accept();
      ticket.end();
      commandListUpdates.tell(session); // a command of an extension may have changed the list
    };
    start({ onAccepted: accept, onPlaced }).then(ended, (error: unknown) => {
      if (!isAccepted && dialect.answersPromptOnce) {
        ticket.drop();
        return reject(error);
      }
      accept(); // the success line always comes first
      request.fail(error);
      ticket.fail(error);
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
