// Fails on an import that points upward, past a contract, or round in a circle, and on disk or process access
// outside the allowed files. Type-only imports count: the parser sees every import, export-from and import().

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Lang, parse } from "@ast-grep/napi";

/** Every rule that the tree below `src` breaks, as one sentence each. */
export async function findViolations(root) {
  const {
    layers,
    contracts,
    ioAllowedIn,
    librariesOf = {},
  } = await import(pathToFileURL(join(root, "layers.mjs")).href);
  const source = join(root, "src");
  const files = readdirSync(source, { recursive: true })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => name.replaceAll("\\", "/"));
  const problems = [];
  const graph = new Map();

  for (const file of files) {
    const isTest = /\.test(-kit)?\.ts$/.test(file);
    const folder = file.split("/")[0];
    const specifiers = importsOf(readFileSync(join(source, file), "utf8"));
    if (!isTest && layers[folder] === undefined) problems.push(`${file}: folder "${folder}" is not in layers.mjs`);
    const targets = [];
    for (const specifier of specifiers) {
      if (
        ioAllowedIn.modules.includes(specifier) &&
        !isTest &&
        !ioAllowedIn.places.some((place) => file.startsWith(place))
      )
        problems.push(`${file}: imports ${specifier}; only ${ioAllowedIn.places.join(", ")} may`);
      const owners = librariesOf[specifier];
      if (owners?.every((owner) => !file.startsWith(owner)))
        problems.push(`${file}: imports ${specifier}; only ${owners.join(", ")} may`);
      if (!specifier.startsWith(".")) continue;
      const target = relative(source, resolve(source, dirname(file), specifier)).replace(/\.js$/, ".ts");
      targets.push(target);
      if (isTest) continue;
      const reason = refusal({ folder, target, layers, contracts });
      if (reason) problems.push(`${file}: imports ${target}; ${reason}`);
    }
    if (!isTest) graph.set(file, targets);
  }
  return [...problems, ...cycles(graph)];
}

function refusal({ folder, target, layers, contracts }) {
  const to = target.split("/")[0];
  if (to === folder) return undefined;
  const below = layers[folder] ?? [];
  if (below.includes(to)) return undefined;
  if (below.includes(`${to}*`))
    return target === contracts[to] ? undefined : `${folder} may only use the contract ${contracts[to]}`;
  return `${to} is not below ${folder}`;
}

function importsOf(text) {
  const tree = parse(Lang.TypeScript, text).root();
  const found = [];
  for (const kind of ["import_statement", "export_statement"])
    for (const node of tree.findAll({ rule: { kind } })) {
      const source = node.field("source");
      if (source) found.push(unquote(source.text()));
    }
  // import("x") as an expression, and as a type.
  for (const node of tree.findAll({ rule: { pattern: "import($SOURCE)" } })) {
    const source = node.getMatch("SOURCE");
    if (source?.kind() === "string") found.push(unquote(source.text()));
  }
  return found;
}

function unquote(text) {
  return text.slice(1, -1);
}

/** Depth-first search; each cycle is told once, by the edge that closes it. */
function cycles(graph) {
  const state = new Map();
  const problems = [];
  const path = [];
  const visit = (file) => {
    state.set(file, "open");
    path.push(file);
    for (const target of graph.get(file) ?? []) {
      if (state.get(target) === "open")
        problems.push(`cycle: ${[...path.slice(path.indexOf(target)), target].join(" -> ")}`);
      else if (!state.has(target) && graph.has(target)) visit(target);
    }
    path.pop();
    state.set(file, "done");
  };
  for (const file of graph.keys()) if (!state.has(file)) visit(file);
  return problems;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const problems = await findViolations(fileURLToPath(new URL("..", import.meta.url)));
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  else console.log("layers: no upward import, no cycle");
}
