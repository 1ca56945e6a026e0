// Tells the user when a local server cannot hold a coding session: its context is small, or it cut the prompt without
// saying so. Each is told once in a session.

import type { Log } from "../../base/log.js";
import type { ModelContext, ModelMessage, StreamFunction, StreamRequest } from "../../provider/provider.js";
import { localServers } from "../../provider/provider-list.js";

const smallWindow = 16_384;
const charactersPerToken = 4;

export interface LocalNoticeDeps {
  /** The kind of server that a provider is; undefined for services elsewhere. */
  typeOf(provider: string): string | undefined;
  readonly log: Log;
}

export function withLocalNotices(stream: StreamFunction, { typeOf, log }: LocalNoticeDeps): StreamFunction {
  const told = new Set<string>();
  const tell = (kind: string, text: string) => {
    if (!told.has(kind)) log.warn(text);
    told.add(kind);
  };
  return (request) => {
    const type = typeOf(request.model.provider);
    return type === undefined ? stream(request) : watched(stream, request, { hint: hintOf(type), tell });
  };
}

async function* watched(
  stream: StreamFunction,
  request: StreamRequest,
  { hint, tell }: { hint: string; tell: (kind: string, text: string) => void },
): ReturnType<StreamFunction> {
  const { model, context } = request;
  const name = `${model.provider}/${model.id}`;
  let hasAnswered = false;
  for await (const event of stream(request)) {
    // A server that is not there has no context: its window was only assumed.
    if (!hasAnswered && event.type !== "error" && model.contextWindow < smallWindow)
      tell(
        "small",
        `${name} has a context of ${figure(model.contextWindow)} tokens; a coding session needs more.${hint}`,
      );
    hasAnswered = true;
    if (event.type === "done") {
      const { input, cacheRead, cacheWrite } = event.usage;
      const read = input + cacheRead + cacheWrite;
      const sent = estimate(context);
      if (read > 0 && read < sent / 2)
        tell(
          "cut",
          `${name} has read ${figure(read)} of about ${figure(sent)} tokens: its server cut the prompt; ` +
            `a coding session needs more.${hint}`,
        );
    }
    yield event;
  }
}

function hintOf(type: string): string {
  const hint = localServers.find(({ id }) => id === type)?.contextHint;
  return hint === undefined ? "" : ` ${hint}`;
}

function figure(count: number): string {
  return count.toLocaleString("en-US");
}

/** Too low rather than too high: images and thoughts, which a server may leave out, do not count. */
function estimate({ systemPrompt, messages, tools }: ModelContext): number {
  const characters = messages.reduce((sum, message) => sum + lengthOf(message), systemPrompt.length);
  return Math.round((characters + JSON.stringify(tools).length) / charactersPerToken);
}

function lengthOf({ content }: ModelMessage): number {
  if (typeof content === "string") return content.length;
  return content.reduce((sum, block) => {
    if (block.type === "text") return sum + block.text.length;
    return block.type === "toolCall" ? sum + JSON.stringify(block.arguments).length : sum;
  }, 0);
}
