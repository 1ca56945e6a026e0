// Checks the model tables: that the strict reader of models files takes every row as it is, that usual and small models
// exist, that no price is below 0, and that a reply fits its window.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { importSource } from "./import-source.mjs";

const catalog = fileURLToPath(new URL("../src/provider/catalog", import.meta.url));
const { knownProviders, readModelsFile, problemText } = await importSource(
  "src/provider/provider-list.ts",
  "src/provider/models/models-file.ts",
);
const headers = new Set();
const problems = knownProviders.flatMap((provider) => check(provider));
const files = new Set(["LICENSE", ...knownProviders.map(({ id }) => `${id}.json`)]);
for (const name of readdirSync(catalog)) if (!files.has(name)) problems.push(`${name}: belongs to no known service`);
if (headers.size > 1) problems.push("the files come from different versions of the source");
for (const problem of problems) console.log(problem);
if (problems.length > 0) process.exitCode = 1;

function check({ id: provider, baseUrl, defaults = [], small }) {
  const file = `${provider}.json`;
  const { models, ...header } = JSON.parse(readFileSync(join(catalog, file), "utf8"));
  headers.add(JSON.stringify(header));
  // The API is the service's, not the row's; any that every version knows will do here.
  const described = { baseUrl, auth: "none", api: "openai-completions", models };
  const read = readModelsFile({ providers: { [provider]: described } }, file);
  const wanted = [...defaults, ...(small === undefined ? [] : [small])];
  return [
    ...["source", "version", "date", "notice"].filter((name) => !header[name]).map((name) => `${file}: no ${name}`),
    ...(models.length === 0 ? [`${file}: no models`] : []),
    ...read.problems.map(problemText),
    ...read.warnings,
    ...wanted.filter((id) => !models.some((row) => row.id === id)).map((id) => `${file}: has no ${id}`),
    ...models.flatMap((row) => rowProblems(row).map((text) => `${file}: ${row.id}: ${text}`)),
  ];
}

function rowProblems({ cost, contextWindow, maxTokens }) {
  const prices = [cost, ...(cost?.tiers ?? [])].filter((set) => set !== undefined);
  const names = ["input", "output", "cacheRead", "cacheWrite"];
  const isPriced = prices.every((set) => names.every((name) => set[name] >= 0));
  const above = (cost?.tiers ?? []).map(({ inputTokensAbove }) => inputTokensAbove);
  return [
    ...(isPriced ? [] : ["a price is missing or below 0"]),
    ...(above.every((tokens, index) => tokens > (above[index - 1] ?? 0)) ? [] : ["the tiers of prices do not ascend"]),
    ...(maxTokens <= contextWindow ? [] : ["the output is larger than the window"]),
  ];
}
