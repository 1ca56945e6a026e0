// Looks for models on the servers that usually run on this machine, and on those that a models file names. Promises: all
// are asked at once, for at most a second in total; no server gets a key but its own; no answer can do more than be
// ignored.

import { AbortRace, linkAbort } from "../../base/abort.js";
import type { Clock } from "../../base/clock.js";
import { GalleyError, messageOf, systemCode } from "../../base/errors.js";
import type { Environment } from "../credentials.js";
import { getJson } from "../http/http.js";
import type { ProviderModel } from "../provider.js";
import { askLmStudio } from "./ask-lm-studio.js";
import { askLlamaCpp, askOpenAiCompatible, askVllm } from "./ask-model-list.js";
import { askOllama } from "./ask-ollama.js";
import type { Ask, Asker } from "./asker.js";
import { type FoundModel, inOrderOfChoice, type ModelFacts, modelOf } from "./found-model.js";
import { originOf, rootOf, type ServerToAsk, type ServerType, usualServers } from "./server-address.js";

export interface LocalSearch {
  readonly env: Environment;
  /** Default: the usual ones, where the environment says that they are. */
  readonly servers?: readonly ServerToAsk[];
  /** The id of a model that the user named: where time is short, it is asked about first. */
  readonly wanted?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly clock: Clock;
}

export interface LocalModels {
  /** First choice first: loaded, else newest. */
  readonly models: readonly ProviderModel[];
  readonly servers: readonly AskedServer[];
}

export interface AskedServer extends ServerToAsk {
  readonly origin: string;
  /** It answered, be it with no model; else why it did not. */
  readonly outcome: "answered" | "refused" | "silent" | "failed";
  /** What went wrong, for people. */
  readonly problem?: string;
}

const limitMs = 1000;
const connectLimitMs = 300;

const askers: { readonly [type in ServerType]: Asker } = {
  ollama: askOllama,
  "lm-studio": askLmStudio,
  "llama.cpp": askLlamaCpp,
  vllm: askVllm,
  "openai-compat": askOpenAiCompatible,
};

/** Never rejects. */
export async function findLocalModels(search: LocalSearch): Promise<LocalModels> {
  const { env, clock, servers = usualServers(env) } = search;
  const stop = linkAbort(search.signal);
  const cancel = clock.after(limitMs, () => stop.abort());
  const answers = await Promise.all(
    servers.map(async (server) => {
      const found: FoundModel[] = [];
      const tell = (facts: ModelFacts) => void found.push({ facts, model: modelOf(facts, server) });
      return { asked: await askServer(server, { ...search, signal: stop.signal, tell }), found };
    }),
  );
  cancel();
  stop.release();
  const found = unique(answers.flatMap((answer) => answer.found));
  return { models: inOrderOfChoice(found).map(({ model }) => model), servers: answers.map(({ asked }) => asked) };
}

async function askServer(
  server: ServerToAsk,
  { env, clock, wanted, signal, tell }: LocalSearch & { signal: AbortSignal; tell: (facts: ModelFacts) => void },
): Promise<AskedServer> {
  const { type, baseUrl } = server;
  const root = type === "openai-compat" ? baseUrl : rootOf(baseUrl);
  const origin = originOf(baseUrl);
  const call = { proxyVariables: env, signal, clock, connectTimeoutMs: connectLimitMs, timeoutMs: limitMs };
  let isThere = false;
  try {
    // A key may come from a command of the user, which has no more time than the rest.
    const headers = await new AbortRace(signal).next(server.headers?.() ?? Promise.resolve({}));
    signal.throwIfAborted();
    if (headers === "aborted") throw new GalleyError("timeout", "The key did not come in time.");
    const ask: Ask = async (path, payload) => {
      const url = `${root}${path}`;
      const answer = await getJson({ ...call, url, headers, ...(payload === undefined ? {} : { payload }) });
      if (!answer.ok && answer.problem.failure.kind === "auth")
        throw new GalleyError("no_credential", answer.problem.message);
      isThere = true;
      return answer.ok ? answer.value : undefined;
    };
    await askers[type](ask, tell, { env, wanted });
    return { ...server, origin, outcome: "answered" };
  } catch (error) {
    if (isThere) return { ...server, origin, outcome: "answered" }; // what it told so far counts
    const isRefused = codesOf(error).includes("ECONNREFUSED");
    const isSilent = signal.aborted || GalleyError.is(error, "timeout");
    const outcome = isRefused ? "refused" : isSilent ? "silent" : "failed";
    return { ...server, origin, outcome, problem: messageOf(error) };
  }
}

/** `localhost` is tried at each of its addresses. */
function codesOf(error: unknown): (string | undefined)[] {
  return error instanceof AggregateError ? error.errors.map(systemCode) : [systemCode(error)];
}

/** A model that is told twice is the first. */
function unique(found: readonly FoundModel[]): FoundModel[] {
  const keyOf = ({ model }: FoundModel) => `${model.provider}/${model.id}`;
  return [...new Map(found.toReversed().map((one) => [keyOf(one), one])).values()].toReversed();
}
