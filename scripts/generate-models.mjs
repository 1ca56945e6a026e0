// Makes the model tables in src/provider/catalog from the data of the npm package @earendil-works/pi-ai:
//   npm pack @earendil-works/pi-ai@VERSION && tar -xzf *.tgz && node scripts/generate-models.mjs package
// A second argument names another folder for the result, which is made anew.
// The same input gives the same bytes. Nothing of the package is run; scripts/check-models.mjs checks the result.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import { importSource } from "./import-source.mjs";
import { rowOf } from "./model-rows.mjs";

const [folder, given] = argv.slice(2);
if (folder === undefined) throw new Error("Use: node scripts/generate-models.mjs FOLDER_OF_THE_UNPACKED_PACKAGE");

const catalog = given ?? fileURLToPath(new URL("../src/provider/catalog", import.meta.url));
const { knownProviders } = await importSource("src/provider/provider-list.ts");
const { name, version, author, license, repository } = readJson("package.json");
if (license !== "MIT") throw new Error(`${name} ${version} is under ${license}, not under MIT`);
const date = readJson("dist/providers/data/.manifest.json").generatedAt.slice(0, 10);
const home = repository.url.replace(/^git\+|\.git$/g, "");
const notice = `Made from ${name} ${version}, by ${author}, under the MIT License: see LICENSE beside this file.`;

/** Services that answer every model by the older API of OpenAI, whatever API the source asks them by. */
const converted = { mistral: ["mistral-conversations"], openrouter: ["anthropic-messages"] };

rmSync(catalog, { recursive: true, force: true });
mkdirSync(catalog, { recursive: true });
for (const provider of knownProviders) writeFileSync(join(catalog, `${provider.id}.json`), fileOf(provider));
writeFileSync(join(catalog, "LICENSE"), licenseText());

function fileOf(provider) {
  const data = readJson(`dist/providers/data/${provider.id}.json`);
  const apis = [provider.api, ...(converted[provider.id] ?? [])];
  const chats = apis.flatMap((api) => Object.entries(data[api] ?? {})).filter(([key]) => key.startsWith("chat:"));
  const rows = chats.map(([, source]) => rowOf(source, provider)).filter((row) => row !== undefined);
  const head = { source: name, version, date, notice };
  const lines = sorted(rows, provider).map((row) => JSON.stringify(row));
  return `${JSON.stringify(head).slice(0, -1)},"models":[\n${lines.join(",\n")}\n]}\n`;
}

/** The usual model first, so that the first row is it where a service has no other preference; then by name. */
function sorted(rows, { defaults = [] }) {
  const rank = ({ id }) => (defaults.includes(id) ? defaults.indexOf(id) : defaults.length);
  const byId = (a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
  return rows.toSorted((a, b) => rank(a) - rank(b) || byId(a, b));
}

function readJson(path) {
  return JSON.parse(readFileSync(join(folder, path), "utf8"));
}

function licenseText() {
  return `The files in this folder are made from the model data of ${name} ${version} (${home}).
That package has no licence file; its package.json names the author ${author} and the MIT License:

Copyright (c) ${author}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`;
}
