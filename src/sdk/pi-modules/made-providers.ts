// What modules of pi make providers of: our APIs as pairs of functions, and a provider from its parts.

import type { ProviderModel } from "../../provider/provider.js";
import { AssistantMessageEventStream } from "./pushed-stream.js";

type Stream = (model: ProviderModel, context: never, options?: never) => AsyncIterable<unknown>;

interface ProviderStreams {
  stream: Stream;
  streamSimple: Stream;
}

/** By the name of pi's function, and by what it calls the API. */
const apiNames = {
  "anthropic-messages": ["Anthropic", "anthropicMessagesApi"],
  "google-generative-ai": ["Google", "googleGenerativeAIApi"],
  "openai-completions": ["OpenAICompletions", "openAICompletionsApi"],
  "openai-responses": ["OpenAIResponses", "openAIResponsesApi"],
} as const;

/** `streamSimpleAnthropic`, `anthropicMessagesApi` and the like: each asks over its API, whatever the model calls its own. */
export function apiFunctions(over: (api: string) => Stream): Record<string, unknown> {
  const named = Object.entries(apiNames).flatMap(([api, [name, maker]]) => {
    const ask = over(api);
    const streams = { stream: ask, streamSimple: ask };
    return [
      [`stream${name}`, ask],
      [`streamSimple${name}`, ask],
      [maker, () => streams],
    ];
  });
  return Object.fromEntries(named);
}

interface ProviderParts {
  id: string;
  name?: string;
  baseUrl?: string;
  headers?: Record<string, string>;
  auth: object;
  models: readonly ProviderModel[];
  fetchModels?(context: RefreshContext): Promise<readonly ProviderModel[]>;
  filterModels?: unknown;
  api: ProviderStreams | Readonly<Record<string, ProviderStreams>>;
}

interface RefreshContext {
  publish(publication: { update?: () => void }): Promise<boolean>;
}

export function createProvider(parts: ProviderParts) {
  const { id, name = id, baseUrl, headers, auth, filterModels, fetchModels, api } = parts;
  let found: readonly ProviderModel[] = [];
  const ask =
    (way: keyof ProviderStreams): Stream =>
    (model, ...rest) => {
      const streams = "stream" in api ? (api as ProviderStreams) : api[model.api];
      if (!streams) throw new Error(`Provider ${id} has no API implementation for "${model.api}"`);
      return streams[way](model, ...rest);
    };
  return {
    id,
    name,
    baseUrl,
    headers,
    auth,
    filterModels,
    getModels: () => [...new Map([...parts.models, ...found].map((model) => [model.id, model])).values()],
    refreshModels:
      fetchModels &&
      (async (context: RefreshContext) => {
        const models = await fetchModels(context);
        const update = () => {
          found = models;
        };
        await context.publish({ update });
      }),
    stream: ask("stream"),
    streamSimple: ask("streamSimple"),
  };
}

interface AuthRequest {
  ctx: { env(name: string): Promise<string | undefined> };
  credential?: { key?: string };
}

/** A stored key, else the first of these variables that is set. */
export function envApiKeyAuth(name: string, variables: readonly string[]) {
  return {
    name,
    async resolve({ ctx, credential }: AuthRequest) {
      if (credential?.key) return { auth: { apiKey: credential.key } };
      for (const variable of variables) {
        const apiKey = await ctx.env(variable);
        if (apiKey) return { auth: { apiKey }, source: variable };
      }
      return undefined;
    },
  };
}

/** There at once; what it yields comes when `setup` is done. */
export function lazyStream(model: ProviderModel, setup: () => Promise<AsyncIterable<{ type: string }>>) {
  const stream = new AssistantMessageEventStream();
  const fill = async () => {
    for await (const event of await setup()) stream.push(event);
    stream.end();
  };
  fill().catch((error: unknown) => {
    const { id, provider, api } = model;
    const errorMessage = error instanceof Error ? error.message : String(error);
    const message = { role: "assistant", content: [], api, provider, model: id, stopReason: "error", errorMessage };
    stream.push({ type: "error", error: message });
  });
  return stream;
}

export function lazyApi(load: () => Promise<ProviderStreams>): ProviderStreams {
  const ask =
    (way: keyof ProviderStreams): Stream =>
    (model, ...rest) =>
      lazyStream(model, async () => (await load())[way](model, ...rest) as AsyncIterable<{ type: string }>);
  return { stream: ask("stream"), streamSimple: ask("streamSimple") };
}
