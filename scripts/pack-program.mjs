// Packs the program for a quick start. Every source file becomes a unit: a function that is called when something of
// the file is first used, not when it is imported, so a start evaluates a third of what its imports reach. Units that
// are needed together share a pack, a file that is read when the first of them is needed.
// It works on what esbuild makes of each file, and stops at anything it does not know.

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { transform } from "esbuild";

/** Every unit that is reached from `entry`, in the order of discovery; `libraries` are named, not packed. */
export async function findUnits(entry, { root, options }) {
  const units = [];
  const ids = new Map();
  const libraries = new Set();
  const idOf = (key, unit) => {
    if (!ids.has(key)) ids.set(key, units.push({ ...unit, id: units.length }) - 1);
    return ids.get(key);
  };
  const refer = (from, target) => {
    if (target.startsWith(".")) {
      const path = sourcePath(resolve(dirname(from), target));
      return `$(${idOf(path, { path, name: relative(root, path) })})`;
    }
    if (target.startsWith("node:")) return `$(${idOf(target, { external: target })})`;
    const isProgram = options.external.includes(target);
    if (!isProgram) libraries.add(target);
    const external = isProgram ? target : `./lib/${libraryFile(target)}.js`;
    return `$(${idOf(target, { external })})`;
  };
  // Each member of a table is a unit: a reader of one of them does not pay for the others.
  const member = (path, key, code) => `$(${idOf(`${path}#${key}`, { name: `${relative(root, path)}#${key}`, code })})`;
  idOf(entry, { path: entry, name: relative(root, entry) });
  for (const unit of units) {
    const { path } = unit;
    if (path?.endsWith(".json")) unit.code = jsonCode(path, member);
    else if (path) unit.code = await codeOf(path, (target) => refer(path, target), options);
  }
  return { units, libraries };
}

export function libraryFile(name) {
  return name.replaceAll("/", "-");
}

/**
 * The text of each pack, by the name of its file. `packs` says which ids each holds, in order; the first is the program
 * itself, what is in none goes into the last, and one that is not the first is read when a unit of it is needed.
 * `onLoad` is code that sees every `id`.
 */
export function packUnits(units, packs = [{ name: "main.js", ids: new Set() }], onLoad = "") {
  const packOf = ({ id }) => packs.find(({ ids }) => ids.has(id)) ?? packs.at(-1);
  const groups = packs.map((pack) => ({ name: pack.name, members: units.filter((unit) => packOf(unit) === pack) }));
  const numbers = new Map(groups.flatMap(({ members }) => members).map(({ id }, number) => [id, number]));
  const renumbered = (code) => code.replace(/\$\((\d+)\)/g, (_, id) => `$(${numbers.get(Number(id))})`);
  const table = (members) =>
    members
      .map(({ external, code }) => (external ? JSON.stringify(external) : `function (exports) {\n${renumbered(code)}}`))
      .join(",\n");
  const [first, ...later] = groups;
  const entry = numbers.get(units[0].id);
  // Packs are read while the program runs, and an update may have replaced them meanwhile.
  const build = createHash("sha256")
    .update(JSON.stringify([packs.map(({ ids }) => [...ids]), units]))
    .digest("hex");
  const ends = later.map(({ name, members }) => ({ name, end: numbers.get(members.at(-1)?.id) }));
  const program = `"use strict";
const loaded = [];
const units = [${table(first.members)}];
function $(id) {
  const found = loaded[id];
  return found !== undefined ? found : load(id);
}
function load(id) {
  const unit = units[id] ?? bring(id);
  ${onLoad}
  if (typeof unit === "string") return (loaded[id] = asModule(unit, unit.startsWith("./") ? module.load(unit) : require(unit)));
  const exports = (loaded[id] = {});
  try {
    unit(exports);
  } catch (error) {
    loaded[id] = undefined;
    throw error;
  }
  return exports;
}
function bring(id) {
  const { name, end } = ${JSON.stringify(ends)}.find(({ end }) => id <= end);
  const found = module.load(name);
  if (found.build !== "${build}") throw new Error("galley was updated while it ran. Start it again.");
  const brought = found.units($, $reExport);
  for (let index = 0; index < brought.length; index++) units[end - brought.length + 1 + index] = brought[index];
  return units[id];
}
function asModule(name, found) {
  return found.__esModule || name.startsWith("node:") ? found : { ...found, default: found };
}
function $reExport(to, from) {
  for (const name of Object.keys(from))
    if (!(name in to)) Object.defineProperty(to, name, { enumerable: true, get: () => from[name] });
}
$(${entry});
`;
  const text = ({ members }) => `"use strict";
exports.build = "${build}";
exports.units = ($, $reExport) => [${table(members)}];
`;
  return new Map([[first.name, program], ...later.map((group) => [group.name, text(group)])]);
}

function sourcePath(path) {
  const source = path.replace(/\.js$/, ".ts");
  return existsSync(source) ? source : path;
}

/** One file as the body of a unit; `refer` gives the expression for what it imports. */
async function codeOf(path, refer, { target, define }) {
  const source = readFileSync(path, "utf8");
  if (/\bimport_\w|\brequire\("|\$\(\d/.test(source))
    throw new Error(`${path}: import_…, require and $(1) are the build's own words.`);
  const made = await transform(source, {
    loader: "ts",
    format: "cjs",
    platform: "node",
    target,
    // import() as require: the ES module loader would be started for it otherwise, even for a module of Node's own.
    supported: { "dynamic-import": false },
    define,
    sourcefile: path,
  });
  const { body, exported } = splitExports(made.code, path);
  const imports = new Map();
  const code = body
    .replace(
      /^__reExport\(\w+, require\("([^"]+)"\), module\.exports\);$/gm,
      (_, from) => `$reExport(exports, ${refer(from)});`,
    )
    .replace(/^var (import_\w+) = (?:__toESM\()?require\("([^"]+)"\)(?:, 1)?\)?;\n/gm, (_, name, from) => {
      imports.set(name, from);
      return "";
    })
    .replace(/(?:__toESM\()?require\("([^"]+)"\)(?:, 1)?\)?/g, (_, from) => refer(from));
  const bound = bindImports(code, imports, refer);
  const { head, tail } = exportLines(exported, bound, (text) => bindImports(text, imports, refer));
  if (/\b(?:__\w+\(|import_\w|module\.exports =|import\.meta)/.test(bound)) throw new Error(`${path}: not understood`);
  return head + bound + tail;
}

function jsonCode(path, member) {
  const members = Object.entries(JSON.parse(readFileSync(path, "utf8"))).map(([key, value]) => {
    const unit = member(path, key, `exports.value = ${JSON.stringify(value)};\n`);
    return `get ${JSON.stringify(key)}() { return ${unit}.value; }`;
  });
  return `exports.default = { ${members.join(", ")} };\n`;
}

/** What stands between esbuild's helpers at the top and its notes at the end, and the names that are exported. */
function splitExports(code, path) {
  const top = /^[\s\S]*?\nmodule\.exports = __toCommonJS\(\w+\);\n/.exec(code)?.[0];
  if (top === undefined) return { body: code.replace(/^(?:var __\w+ = [\s\S]*?\n)(?=var import_)/, ""), exported: [] };
  const list = /__export\(\w+, \{\n([\s\S]*?)\n\}\);\n/.exec(top)?.[1].split("\n") ?? [];
  const exported = list.map((line) => {
    const found = /^ {2}(\w+): \(\) => ([\w.]+),?$/.exec(line);
    if (!found) throw new Error(`${path}: an export that is not understood: ${line}`);
    return { name: found[1], value: found[2] };
  });
  return { body: code.slice(top.length).replace(/^\/\/ Annotate the CommonJS export names[\s\S]*$/m, ""), exported };
}

/** An imported name is looked up where it is used. A module of Node's own is its own default. */
function bindImports(code, imports, refer) {
  return code
    .replace(/\bnew (import_\w+(?:\.\w+)+)/g, "new ($1)")
    .replace(/\b(import_\w+)\b(\.default\b)?/g, (_, name, isDefault = "") => {
      const from = imports.get(name);
      if (from === undefined) throw new Error(`${name} is imported from nowhere`);
      return from.startsWith("node:") ? refer(from) : refer(from) + isDefault;
    });
}

/** Functions are there from the beginning, so that files may use each other's; the rest once it is made. */
function exportLines(exported, code, bind) {
  const functions = new Set([...code.matchAll(/^(?:async )?function\*? ?(\w+)/gm)].map(([, name]) => name));
  let head = "";
  let tail = "";
  for (const { name, value } of exported)
    if (value.startsWith("import_"))
      head += `Object.defineProperty(exports, "${name}", { enumerable: true, get: () => ${bind(value)} });\n`;
    else if (functions.has(value)) head += `exports.${name} = ${value};\n`;
    else tail += `exports.${name} = ${value};\n`;
  return { head, tail };
}
