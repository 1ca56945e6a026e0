// `galley models`: what can be used, at which price, and what needs a key. Also `--list-models`, which prints names only.

import { GalleyError } from "../../base/errors.js";
import { logTo } from "../../base/log.js";
import { nearestName } from "../../base/nearest-name.js";
import { sanitizeForTerminal } from "../../base/sanitize.js";
import { type ListedModel, listModels, type ModelList, setKeyText } from "../../sdk/models/list-models.js";
import type { CommandLine } from "../arguments.js";
import { ignoreBrokenPipe } from "../ignore-broken-pipe.js";
import { unknownOption, wrongUse } from "../verb-help.js";

interface Asked {
  readonly search: string;
  readonly provider?: string;
  readonly all: boolean;
  readonly json: boolean;
}

export async function runModelsCommand(words: readonly string[]): Promise<void> {
  ignoreBrokenPipe();
  const asked = readWords(words);
  const list = await listModels({ cwd: process.cwd(), log: stderrLog, all: asked.all });
  const { provider } = asked;
  if (provider !== undefined && !list.providers.includes(provider)) throw unknownProvider(provider, list.providers);
  const models = list.models.filter((model) => matches(model, asked));
  if (asked.json) process.stdout.write(`${JSON.stringify(models.map(asJson))}\n`);
  else if (models.length > 0) process.stdout.write(sanitizeForTerminal(tableOf(models, list, asked)));
  if (models.length === 0) process.stderr.write(`${nothingText(list, asked)}\n`);
}

/** The names of what can be used, the planner where there is nothing else. */
export async function printModelNames(line: CommandLine): Promise<void> {
  ignoreBrokenPipe();
  const search = line.options.get("list-models")?.[0] ?? "";
  const { models } = await listModels({ cwd: process.cwd(), log: stderrLog, all: false });
  const all =
    models.length > 0 ? models.map(({ wire }) => wire) : [{ provider: "galley", id: "planner", name: "Planner" }];
  const names = all
    .map(({ provider, id, name }) => (name === id ? `${provider}/${id}` : `${provider}/${id}  ${name}`))
    .filter((text) => text.toLowerCase().includes(search.toLowerCase()));
  process.stdout.write(names.map((text) => `${sanitizeForTerminal(text)}\n`).join(""));
  if (names.length === 0) process.stderr.write("No usable model matches.\n");
}

const stderrLog = logTo((text) => process.stderr.write(text));

function readWords(words: readonly string[]): Asked {
  const known = ["--all", "--json", "--provider"];
  const rest: string[] = [];
  const flags = new Set<string>();
  let provider: string | undefined;
  for (let index = 0; index < words.length; index++) {
    const [word = "", value] = splitValue(words[index] ?? "");
    if (word === "--provider") {
      provider = value ?? words[++index];
      if (!provider) throw wrongUse("models", "--provider needs a value.");
    } else if (word.startsWith("-")) {
      if (!known.includes(word) || value !== undefined) throw unknownOption("models", words[index] ?? "", known);
      flags.add(word);
    } else rest.push(word);
  }
  return { search: rest.join(" ").toLowerCase(), provider, all: flags.has("--all"), json: flags.has("--json") };
}

function splitValue(word: string): [string, string?] {
  const at = word.startsWith("--") ? word.indexOf("=") : -1;
  return at === -1 ? [word] : [word.slice(0, at), word.slice(at + 1)];
}

function unknownProvider(provider: string, known: readonly string[]): GalleyError {
  const near = nearestName(provider, known);
  return new GalleyError("usage", `Unknown provider ${provider}.${near === undefined ? "" : ` Did you mean ${near}?`}`);
}

function matches({ wire }: ListedModel, { search, provider }: Asked): boolean {
  if (provider !== undefined && wire.provider !== provider) return false;
  return `${wire.provider}/${wire.id} ${wire.name}`.toLowerCase().includes(search);
}

function asJson({ wire, available, source, missing, isDefault }: ListedModel) {
  return { ...wire, available, ...(available ? { source } : { missing }), isDefault };
}

function nothingText({ models }: ModelList, { all, search }: Asked): string {
  if (models.length === 0) return `No key found. ${setKeyText}`;
  const what = all ? "No model" : "No usable model";
  return `${what} matches${search === "" ? "" : ` ${JSON.stringify(search)}`}.${all ? "" : " See: galley models --all"}`;
}

const headings = ["MODEL", "CONTEXT", "OUTPUT", "IN $/M", "OUT $/M", "INPUT", "THINKING"];
const numbers = new Set([1, 2, 3, 4]);

function tableOf(
  models: readonly ListedModel[],
  { otherProviders, date }: ModelList,
  { all, provider }: Asked,
): string {
  const rows = [headings, ...models.map(cellsOf)];
  const widths = headings.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) =>
        numbers.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd(),
  );
  const notes = [
    ...(models.some(({ isDefault }) => isDefault) ? ["* used now."] : []),
    ...(all || provider !== undefined || otherProviders === 0
      ? []
      : [`${otherProviders} more provider${otherProviders === 1 ? "" : "s"}: galley models --all.`]),
    ...(date === undefined ? [] : [`Prices of ${date}.`]),
  ];
  return [...lines, ...(notes.length === 0 ? [] : [notes.join(" ")])].map((line) => `${line}\n`).join("");
}

function cellsOf({ wire, cost, thinking = "-", isDefault, missing }: ListedModel): string[] {
  return [
    `${wire.provider}/${wire.id}${isDefault ? " *" : ""}`,
    tokensText(wire.contextWindow),
    tokensText(wire.maxTokens),
    priceText(cost, "input"),
    priceText(cost, "output"),
    wire.input.join(" "),
    thinking,
    ...(missing === undefined ? [] : [`needs ${missing}`]),
  ];
}

/** Whole thousands, and millions with at most one decimal; never more than there is. */
function tokensText(count: number): string {
  if (count >= 1e6) return `${Math.floor(count / 1e5) / 10}M`;
  return count >= 1000 ? `${Math.floor(count / 1000)}k` : String(count);
}

function priceText(cost: ListedModel["cost"], name: "input" | "output"): string {
  if (cost === undefined) return "?";
  if (cost.input === 0 && cost.output === 0) return "free";
  const [price, short] = [cost[name], cost[name].toFixed(2)];
  return Number(short) === price ? short : price.toFixed(3);
}
