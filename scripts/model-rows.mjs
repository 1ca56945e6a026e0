// One row of the source's data as one row of galley's table: a model without what its service or the defaults say
// anyway. Pure; scripts/generate-models.mjs calls it.

const efforts = ["minimal", "low", "medium", "high", "xhigh"];

/** Not for conversations, whatever the source calls them. */
const otherWork = /[:-]batch$|(^|[-/])(image|audio|voice|voxtral|realtime|nano-banana|(deep-)?research)([-/.:]|$)/;

/** Undefined: not a row for galley. */
export function rowOf(source, provider) {
  const { id, name, contextWindow } = source;
  if (otherWork.test(id) || !(contextWindow > 0 && source.maxTokens > 0)) return undefined;
  const cost = costOf(source);
  const thinking = source.reasoning ? thinkingOf(source, provider) : undefined;
  const compat = compatOf(source, provider);
  const input = source.input.filter((kind) => kind === "text" || kind === "image");
  return {
    id,
    ...(name === id ? {} : { name }),
    ...(source.reasoning ? { reasoning: true } : {}),
    ...(thinking && { thinking }),
    ...(input.includes("image") ? { input } : {}),
    ...(cost && { cost }),
    contextWindow,
    maxTokens: Math.min(source.maxTokens, contextWindow),
    ...(Object.keys(compat).length > 0 && { compat }),
  };
}

/** The source writes 0 also where it does not know: only a model that calls itself free is taken for free. */
function costOf({ id, cost }) {
  if (cost.input === 0 && cost.output === 0 && !/[:/-]free$/.test(id)) return undefined;
  const { tiers = [] } = cost;
  return {
    ...pricesOf(cost),
    ...(tiers.length > 0 && {
      tiers: tiers.map((tier) => ({ inputTokensAbove: tier.inputTokensAbove, ...pricesOf(tier) })),
    }),
  };
}

function pricesOf({ input, output, cacheRead = 0, cacheWrite = 0 }) {
  return { input, output, cacheRead, cacheWrite };
}

/** Undefined where the levels are what galley assumes of a model that reasons. */
function thinkingOf({ thinkingLevelMap: map = {}, compat = {} }, { api }) {
  const mode = modeOf({ map, compat, api });
  const words = efforts.map((level) => [level, wordOf(level, map, mode)]);
  const supported = words.filter(([, word]) => word !== null).map(([level]) => level);
  if (supported.length === 0) return undefined;
  const [minLevel, maxLevel] = [supported[0], supported.at(-1)];
  const inside = words.slice(efforts.indexOf(minLevel), efforts.indexOf(maxLevel) + 1);
  const levels = Object.fromEntries([
    ...offWord(map.off, api),
    ...inside.filter(([level, word]) => word !== ownWord(level, mode)),
  ]);
  const isAssumed = mode === "budget" ? supported.length === 5 : minLevel === "low" && maxLevel === "high";
  if (isAssumed && Object.keys(levels).length === 0 && (mode === "budget" || mode === "effort")) return undefined;
  return { minLevel, maxLevel, mode, ...(Object.keys(levels).length > 0 && { levels }) };
}

function modeOf({ map, compat, api }) {
  if (api === "anthropic-messages") return compat.forceAdaptiveThinking ? "anthropic-adaptive" : "budget";
  if (api === "google-generative-ai") return Object.keys(map).length > 0 ? "google-level" : "budget";
  return "effort";
}

/** The service's word for a level; null: the level does not exist. What the source calls max is galley's highest too. */
function wordOf(level, map, mode) {
  if (mode === "budget") return map[level] === null ? null : level;
  if (level === "xhigh") return map.xhigh ?? map.max ?? null;
  // Services that know efforts know these three; another word must be told.
  const isUsual = level !== "minimal" || mode === "anthropic-adaptive";
  const word = map[level];
  if (word === undefined) return isUsual ? ownWord(level, mode) : null;
  return mode === "google-level" && word !== null ? word.toLowerCase() : word;
}

function ownWord(level, mode) {
  return mode === "anthropic-adaptive" && level === "minimal" ? "low" : level;
}

/** The newer API of OpenAI says "none" by itself. */
function offWord(word, api) {
  if (word === undefined || (word === "none" && api !== "openai-completions")) return [];
  return [["off", word]];
}

const kept = [
  "supportsStore",
  "supportsDeveloperRole",
  "supportsReasoningEffort",
  "maxTokensField",
  "thinkingFormat",
  "supportsStrictMode",
  "supportsLongCacheRetention",
  "supportsTemperature",
  "cacheControlFormat",
];
const thinkingFormats = ["openai", "openrouter", "zai", "deepseek"];

/** What galley takes for granted of every model behind an API. */
const granted = {
  "anthropic-messages": { supportsLongCacheRetention: true },
  "openai-responses": { supportsStrictMode: true },
  "google-generative-ai": {},
  "openai-completions": {
    supportsStore: false,
    supportsDeveloperRole: false,
    supportsReasoningEffort: true,
    maxTokensField: "max_tokens",
    thinkingFormat: "openai",
    supportsStrictMode: false,
    supportsLongCacheRetention: false,
  },
};
/** What it guesses otherwise from the service's name. */
const guessed = {
  openrouter: { thinkingFormat: "openrouter", supportsStrictMode: true },
  mistral: { supportsReasoningEffort: false },
  zai: { thinkingFormat: "zai", supportsReasoningEffort: false },
};

function compatOf(source, { id: provider, api }) {
  const told = source.api === api ? (source.compat ?? {}) : { ...convertedCompat(source, provider) };
  const assumed = { ...granted[api], ...guessed[provider] };
  const compat = Object.fromEntries(
    kept
      .filter((name) => told[name] !== undefined && told[name] !== assumed[name])
      .filter((name) => name !== "thinkingFormat" || thinkingFormats.includes(told[name]))
      .map((name) => [name, told[name]]),
  );
  if (api !== "openai-completions") return compat;
  return {
    ...compat,
    ...(told.requiresReasoningContentOnAssistantMessages && { requiresReasoningContent: true }),
    ...(told.sendSessionAffinityHeaders && {
      sessionHeader: provider === "openrouter" ? "x-session-id" : "x-session-affinity",
    }),
  };
}

/** For a model that the source asks by another API. */
function convertedCompat({ compat = {}, thinkingLevelMap }, provider) {
  const { supportsTemperature } = compat;
  if (provider === "openrouter")
    return { supportsTemperature, cacheControlFormat: "anthropic", sendSessionAffinityHeaders: true };
  return { supportsReasoningEffort: thinkingLevelMap !== undefined };
}
