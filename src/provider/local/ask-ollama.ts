// The models of an Ollama server. Its window is what the server runs a model with, which is far less than what the model
// was trained for: a longer prompt is cut without a word.

import type { JsonObject } from "../../base/json.js";
import { name, object, objects, tokens } from "./answer-fields.js";
import type { Ask, Asker } from "./asker.js";
import { type ModelFacts, usualOllamaWindow } from "./found-model.js";

/** Each model is one more question. */
const questionsAtOnce = 6;

interface Listed {
  readonly id: string;
  readonly changedAt: number;
  readonly isRemote: boolean;
  readonly loaded: JsonObject | undefined;
}

export const askOllama: Asker = async (ask, tell, { env, wanted }) => {
  const [tags, running] = await Promise.all([ask("/api/tags"), ask("/api/ps").catch(() => undefined)]);
  const loaded = new Map(objects(object(running).models).map((entry) => [name(entry.model ?? entry.name), entry]));
  const listed = objects(object(tags).models)
    .map((entry) => readListed(entry, loaded))
    .filter((entry) => entry !== undefined);
  const rank = ({ id, loaded: entry }: Listed) => (id === wanted ? 0 : entry ? 1 : 2);
  const queue = listed.toSorted((a, b) => rank(a) - rank(b) || b.changedAt - a.changedAt);
  await Promise.all(
    Array.from({ length: questionsAtOnce }, async () => {
      for (let next = queue.shift(); next; next = queue.shift()) {
        const facts = await askAbout(next, ask, usualOllamaWindow(env)).catch(() => undefined); // the others may still tell
        if (facts) tell(facts);
      }
    }),
  );
};

function readListed(entry: JsonObject, loaded: ReadonlyMap<string | undefined, JsonObject>): Listed | undefined {
  const id = name(entry.model) ?? name(entry.name);
  if (id === undefined) return undefined;
  const changedAt = typeof entry.modified_at === "string" ? Date.parse(entry.modified_at) : Number.NaN;
  return {
    id,
    changedAt: Number.isFinite(changedAt) ? changedAt : 0,
    isRemote: typeof entry.remote_host === "string" && entry.remote_host !== "",
    loaded: loaded.get(id),
  };
}

/** Undefined for a model that cannot use tools, as embedding models cannot. */
async function askAbout(
  { id, changedAt, isRemote, loaded }: Listed,
  ask: Ask,
  usualWindow: number,
): Promise<ModelFacts | undefined> {
  const shown = object(await ask("/api/show", { model: id }));
  const abilities: readonly unknown[] = Array.isArray(shown.capabilities) ? shown.capabilities : [];
  if (!abilities.includes("tools") || abilities.includes("embedding")) return undefined;
  return {
    id,
    contextWindow: tokens(loaded?.context_length) ?? windowIn(shown.parameters) ?? usualWindow,
    hasVision: abilities.includes("vision"),
    canThink: abilities.includes("thinking"),
    isLoaded: loaded !== undefined,
    changedAt,
    isRemote,
  };
}

/** The parameters of a model are lines of a name and a value. */
function windowIn(parameters: unknown): number | undefined {
  const found = typeof parameters === "string" ? /^\s*num_ctx\s+(\d{1,15})\s*$/m.exec(parameters)?.[1] : undefined;
  return found === undefined ? undefined : tokens(Number(found));
}
