// How a name selects a model: exact `provider/id`, exact id, then part of an id or name without regard to case. A
// suffix `:level` asks for a thinking level, unless the whole text is itself the better match. Where several models may
// be meant, `*` and `?` stand for any text and any character.

import { editDistance } from "../../base/edit-distance.js";
import { matchesGlob } from "../../base/match-glob.js";
import type { ThinkingLevel } from "../../protocol/model.js";
import { plannerModel } from "../planner/planner-model.js";
import type { ProviderModel } from "../provider.js";
import { splitLevel } from "../thinking-levels.js";

export interface Selection {
  model: ProviderModel;
  thinkingLevel?: ThinkingLevel;
}

/** `isUsable` decides between equally good matches, so that a name held by two providers finds the one with a key. */
export function selectModel(
  models: readonly ProviderModel[],
  pattern: string,
  isUsable: (model: ProviderModel) => boolean,
): Selection | undefined {
  const suffixed = splitLevel(pattern);
  for (const match of [matchExactly, matchPart]) {
    const whole = best(match(models, pattern), isUsable);
    if (whole) return { model: whole };
    const stripped = suffixed && best(match(models, suffixed.name), isUsable);
    if (stripped) return { model: stripped, thinkingLevel: suffixed.level };
  }
  return undefined;
}

/** The model of exactly this name, with its provider's or without, and a level behind it. */
export function selectExactly(models: readonly ProviderModel[], name: string): Selection | undefined {
  const [whole] = matchExactly(models, name);
  if (whole) return { model: whole };
  const suffixed = splitLevel(name);
  const [stripped] = suffixed ? matchExactly(models, suffixed.name) : [];
  return suffixed && stripped && { model: stripped, thinkingLevel: suffixed.level };
}

/** All that one pattern of a list means, in the order of the models; without `*` and `?` that is one model at most. */
export function selectModels(
  models: readonly ProviderModel[],
  pattern: string,
  isUsable: (model: ProviderModel) => boolean,
): Selection[] {
  const exact = matchExactly(models, pattern).length > 0;
  if (exact || !/[*?]/.test(pattern)) return [selectModel(models, pattern, isUsable)].filter((found) => !!found);
  const { name, level } = splitLevel(pattern) ?? { name: pattern };
  const glob = name.toLowerCase();
  return models
    .filter((model) => model !== plannerModel)
    .filter(({ provider, id }) => [id, `${provider}/${id}`].some((text) => matchesGlob(text.toLowerCase(), glob)))
    .map((model) => ({ model, ...(level === undefined ? {} : { thinkingLevel: level }) }));
}

/** Models that a name may be a mistake for: about one edit for every three letters. */
export function nearestModels(models: readonly ProviderModel[], name: string, count = 3): ProviderModel[] {
  const wanted = (splitLevel(name)?.name ?? name).trim().toLowerCase().slice(0, 100);
  const allowed = Math.max(Math.floor(wanted.length / 3), wanted.length > 4 ? 2 : 1);
  const distanceTo = (text: string) =>
    Math.abs(text.length - wanted.length) > allowed ? Number.POSITIVE_INFINITY : editDistance(wanted, text);
  return models
    .filter((model) => model !== plannerModel)
    .map((model) => ({ model, distance: Math.min(...endsOf(model).map(distanceTo)) }))
    .filter(({ distance }) => distance <= allowed)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, count)
    .map(({ model }) => model);
}

/** Only capitals and signs differ from a known name, or some letters. Another number is another version, and no mistake. */
export function isMisspelt(name: string, known: readonly string[]): boolean {
  if (known.includes(name)) return false;
  const plain = (text: string) => fold(text.toLowerCase());
  if (known.some((each) => plain(each) === plain(name))) return true;
  const wordsOf = (text: string) => fold(text.toLowerCase().replace(/\d+/g, "-"));
  const wanted = wordsOf(name);
  const allowed = wanted.length < 10 ? 1 : 2;
  const distances = known.map(wordsOf).map((words) => {
    return Math.abs(words.length - wanted.length) > allowed ? Infinity : editDistance(wanted, words);
  });
  const least = Math.min(...distances);
  return least > 0 && least <= allowed;
}

/** The whole name and what is left of it without its first words: `sonnet-5` of `claude-sonnet-5`. */
function endsOf({ provider, id }: ProviderModel): string[] {
  const name = `${provider}/${id}`.toLowerCase();
  return [name, ...[...name.matchAll(/[/-]/g)].map(({ index }) => name.slice(index + 1))];
}

function matchExactly(models: readonly ProviderModel[], name: string): ProviderModel[] {
  const full = models.filter((model) => `${model.provider}/${model.id}` === name);
  return full.length > 0 ? full : models.filter((model) => model.id === name);
}

/** The first way of looking that finds something decides. Punctuation counts unless nothing matches with it. */
function matchPart(models: readonly ProviderModel[], name: string): ProviderModel[] {
  const part = name.trim().toLowerCase();
  const words = fold(part);
  if (words === "") return [];
  // A provider's name alone is no part of a model's name, so it only counts where the pattern has a slash.
  const idOf = (model: ProviderModel) =>
    (part.includes("/") ? `${model.provider}/${model.id}` : model.id).toLowerCase();
  const ways: ((model: ProviderModel) => boolean)[] = [
    (model) => idOf(model).includes(part),
    (model) => model.name.toLowerCase().includes(part),
    (model) => fold(idOf(model)).includes(words) || fold(model.name.toLowerCase()).includes(words),
  ];
  // The planner is no language model: only its exact name asks for it.
  const candidates = models.filter((model) => model !== plannerModel);
  return ways.map((way) => candidates.filter(way)).find((found) => found.length > 0) ?? [];
}

/** `Sonnet 4.5`, `sonnet-4-5` and `sonnet_4_5` are one. */
function fold(text: string): string {
  return text.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
}

/** Usable before not, an alias before a dated id, a later date before an earlier one, then the order of the list. */
function best(found: ProviderModel[], isUsable: (model: ProviderModel) => boolean): ProviderModel | undefined {
  const ranked = found.map((model) => ({ model, usable: isUsable(model) ? 0 : 1, date: dateIn(model.id) }));
  ranked.sort((a, b) => a.usable - b.usable || Number(a.date !== 0) - Number(b.date !== 0) || b.date - a.date);
  return ranked[0]?.model;
}

/** The date in an id as a number that sorts, 0 if it has none. */
function dateIn(id: string): number {
  const found = /(?<!\d)(20\d\d)-?([01]\d)-?([0-3]\d)(?!\d)/.exec(id);
  return found ? Number(`${found[1]}${found[2]}${found[3]}`) : 0;
}
