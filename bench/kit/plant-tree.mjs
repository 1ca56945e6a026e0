// A tree like that of a large public repository: 23,000 files of many kinds and sizes, most of them no code, ignored
// folders, generated bundles of megabytes. Made of the code that is here (galley's own and that of the installed packages),
// so that parsers meet what people write. The same every time.

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./agent.mjs";

/** How many files of each ending; bundles, ignored files and what is planted for the rows come on top. */
const amounts = { ts: 2600, tsx: 500, mts: 400, js: 2500, json: 5500, md: 5000, css: 2500, html: 1500, snap: 2500 };
const ignoredFiles = 2500;
const largestSource = 40_000;
const mebibyte = 1024 * 1024;
/** The last is larger than what a parser is given. */
const bundleSizes = [1, 1, 1.5, 2, 2.5, 6].map((size) => size * mebibyte);

/** Below `tree`. Returns how many files a search sees. */
export function plantTree(tree) {
  const sources = readSources();
  let count = 0;
  const put = (path, content) => {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), content);
    count++;
  };
  put(".git/HEAD", "ref: refs/heads/main\n");
  put(".gitignore", "node_modules/\nlib/\n*.log\n");
  for (const [ending, amount] of Object.entries(amounts))
    for (let index = 0; index < amount; index++) put(placeOf(index, ending), contentOf(sources, ending, index));
  for (const [index, size] of bundleSizes.entries())
    put(`packages/package-${index}/bundled/vendor-${index}.js`, bundleOf(sources.js, size, index * 7));
  const seen = count;
  for (let index = 0; index < ignoredFiles; index++)
    put(`packages/package-${index % 60}/lib/part-${index}.js`, sources.js[index % sources.js.length]);
  return seen;
}

/** Sixty packages with folders of their own; a folder and a file may share a beginning (`part-1`, `part-1.ts`). */
function placeOf(index, ending) {
  const folder = { md: "docs", snap: "test/__snapshots__", json: "test/fixtures", html: "site", css: "styles" }[ending];
  const part = `part-${Math.floor(index / 60) % 9}`;
  const name = index % 11 === 0 ? `${part}-${index}` : `${part}/file-${index}`;
  return `packages/package-${index % 60}/${folder ?? "src"}/${name}.${ending}`;
}

function contentOf(sources, ending, index) {
  if (ending === "ts" && index % 900 === 17)
    return `${sources.ts[index]}\nexport const rare = deepCopyOf(1, ${index});\n`;
  const own = sources[ending];
  if (own) return own[index % own.length];
  const lines = Array.from({ length: 10 + ((index * 37) % 150) }, (_, line) => lineOf[ending](index, line));
  return ending === "tsx"
    ? `export function View${index}(props: Props) {\n  return (\n    <ul>\n${lines.join("\n")}\n    </ul>\n  );\n}\n`
    : `${lines.join("\n")}\n`;
}

const lineOf = {
  tsx: (index, line) =>
    `      <li key={${line}} className="item-${index}" onClick={() => props.select(${line})}>{props.labels[${line}] ?? "none"}</li>`,
  md: (index, line) =>
    line % 9 === 0
      ? `\n## Section ${line} of page ${index}\n`
      : `The option \`value${line}\` tells what a const of the package is for, and when to change it.`,
  css: (index, line) =>
    `.item-${index} .part-${line} { color: #${(line * 4099).toString(16).padStart(6, "0")}; margin: ${line}px; }`,
  html: (index, line) => `<p class="line-${line}">Page ${index}: <a href="#${line}">constant ${line}</a></p>`,
  snap: (index, line) => `exports[\`case ${index} line ${line}\`] = \`Object { "value": ${line * index} }\`;`,
};

function readSources() {
  const found = { ts: [], mts: [], js: [], json: [] };
  const add = (folder, kinds) => {
    for (const name of readdirSync(join(root, folder), { recursive: true }).sort()) {
      const list = found[name.slice(name.lastIndexOf(".") + 1)];
      const path = join(root, folder, name);
      if (!list || !kinds.test(name) || !statSync(path).isFile() || statSync(path).size > largestSource) continue;
      list.push(readFileSync(path));
    }
  };
  add("src", /\.ts$/);
  add("test", /\.ts$/);
  add("node_modules", /\.(?:ts|mts|js|json)$/);
  return found;
}

/** As bundlers write them: one function for each module. */
function bundleOf(sources, size, from) {
  const parts = ["var modules = [\n"];
  let length = 0;
  for (let index = from; length < size; index++) {
    const source = sources[index % sources.length].toString().replace(/^#!.*/, "");
    if (/^\s*(?:import|export)\b/m.test(source) || source.length < 500) continue;
    parts.push(`function (module, exports, require) {\n${source}\n},\n`);
    length += source.length;
  }
  return `${parts.join("")}];\n`;
}
