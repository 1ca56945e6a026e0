// Runs the published packages of test/packages on galley and on pi, and prints what differs.
//   npm run packages                     all
//   npm run packages -- pi-btw ./folder  these
//   npm run packages -- --write          all, and writes the table of docs/packages.md and what pi answered (recorded.json)
// Needs what .ci/run installs in test/packages and test/oracles.

import { readFileSync, writeFileSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { drive, here, whyNot } from "../test/packages/box.mjs";
import { differences, digested, essence } from "../test/packages/compare.mjs";

const given = process.argv.slice(2);
const isWritten = given.includes("--write");
const chosen = given.filter((name) => name !== "--write");
const reason = whyNot();
if (reason) {
  console.error(`packages: ${reason}.`);
  process.exit(2);
}
const steps = read("steps.json");
const bare = { pi: await drive("pi", {}), galley: await drive("galley", {}) };
const rows = [];
const recorded = {};
for (const name of chosen.length > 0 ? chosen : Object.keys(steps)) {
  const row = await compareOne(name);
  rows.push(row);
  console.log(`${row.cells.join("  ")}`);
  for (const [kind, list] of Object.entries(row.differences))
    for (const one of list) console.log(`    ${kind}: ${one}`);
}
console.log(summary());
if (isWritten) {
  writeFileSync(join(here, "recorded.json"), `${JSON.stringify(recorded, null, 1)}\n`);
  writeTable();
}

async function compareOne(name) {
  const folder = name.startsWith(".") || isAbsolute(name) ? resolve(name) : join(here, "node_modules", name);
  const request = { folder, steps: steps[name] ?? {}, isTimed: true };
  const runs = { pi: [await drive("pi", request)], galley: [] };
  const pi = essence(runs.pi[0], bare.pi);
  // pi answers when a command is over, galley when it begins: the driver waits for what pi showed.
  runs.galley.push(await drive("galley", { ...request, expected: pi.ran }));
  // In turn, and the best of each counts: the first reads the files from the disk for all.
  for (const agent of ["galley", "pi"]) runs[agent].push(await drive(agent, { folder, isTimed: true, isUsed: false }));
  const galley = essence(runs.galley[0], bare.galley);
  recorded[name] = digested(pi);
  const found = differences(pi, galley);
  const ratio = (key) => {
    const [ours, theirs] = ["galley", "pi"].map((agent) =>
      Math.min(...runs[agent].map((report) => report[key] ?? Infinity)),
    );
    return Number.isFinite(ours / theirs) && theirs < Infinity ? (ours / theirs).toFixed(2) : "-";
  };
  const verdict = (kind) => (found[kind].length === 0 ? "yes" : "no");
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const cells = [
    name,
    version,
    ...["loads", "offers", "runs", "newSession"].map(verdict),
    ratio("coldMs"),
    ratio("warmMs"),
  ];
  return { cells, differences: found };
}

function summary() {
  const same = rows.filter((row) => Object.values(row.differences).every((list) => list.length === 0)).length;
  const loaded = rows.filter((row) => row.differences.loads.length === 0).length;
  return `${rows.length} packages: galley loads ${loaded} of those that pi loads; ${same} do everything that they do on pi.`;
}

function writeTable() {
  const page = join(here, "../../docs/packages.md");
  const head = [
    "Package",
    "Version",
    "Loads",
    "Same tools and commands",
    "Runs the same",
    "New session",
    "Cold",
    "Warm",
  ];
  const lines = [head, head.map(() => "---"), ...rows.map(({ cells }) => cells)].map(
    (cells) => `| ${cells.join(" | ")} |`,
  );
  const text = `${summary()}\n\n${lines.join("\n")}`;
  const [begin, end] = ["<!-- begin: npm run packages -- --write -->", "<!-- end -->"];
  const pattern = new RegExp(`${begin}[\\s\\S]*${end}`);
  const now = readFileSync(page, "utf8");
  if (!pattern.test(now)) throw new Error(`${page} has no place for the table`);
  writeFileSync(
    page,
    now.replace(pattern, () => `${begin}\n${text}\n${end}`),
  );
}

function read(file) {
  return JSON.parse(readFileSync(join(here, file), "utf8"));
}
