// `npm run bench`: measures the built program against its references and prints one table. A row over its budget is told
// and is no failure, since a busy machine can cause it; a row that cannot be measured is one.
//
//   npm run bench -- --only deltas --only queue    some measurements
//   npm run bench -- --long                        also what takes minutes
//   npm run bench -- --json figures.json           every sample, for programs
//   npm run bench -- --beside pi="node …/cli.js"   also another agent that speaks the protocol

import { existsSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

const options = readOptions();
for (const needed of ["../dist/cli/main.js", "../dist/testing.js"])
  if (!existsSync(new URL(needed, import.meta.url))) stop("There is nothing to measure yet. Run npm run build first.");
if (process.platform !== "linux") stop("The bench reads memory from /proc and so runs on Linux only.");

const { addOther } = await import("./kit/agent.mjs");
for (const other of options.beside) addOther(...other.split(/=(.*)/s));
const { figures, header, table } = await import("./kit/report.mjs");
const measurements = await load();
const chosen = measurements.filter(({ name, needsLong }) =>
  options.only.length > 0 ? options.only.some((word) => name.includes(word)) : options.long || !needsLong,
);
if (chosen.length === 0) stop(`--only knows: ${measurements.map(({ name }) => name).join(", ")}`);

const rows = [];
const failures = [];
const skipped = [];
const startedAt = performance.now();
console.log(header());
for (const { name, measure } of chosen) {
  process.stderr.write(`${seconds()} ${name}\n`);
  try {
    for (const row of await measure({ isLong: options.long }))
      (row.skipped ? skipped : rows).push({ measurement: name, ...row });
  } catch (error) {
    failures.push({ measurement: name, problem: error.message });
  }
}
process.stderr.write(`${seconds()} done\n`);
console.log(`\n${table(rows)}`);
for (const { measurement, skipped: reason } of skipped) console.log(`\nSKIPPED: ${measurement}: ${reason}`);
for (const { measurement, problem } of failures) console.log(`\nNOT MEASURED: ${measurement}: ${problem}`);
const over = rows.filter(({ verdict }) => verdict === "over").length;
console.log(`\n${rows.length} rows, ${over} over budget, ${failures.length} measurements failed.`);
if (options.json) writeFileSync(options.json, figures(rows, failures));
if (failures.length > 0) process.exitCode = 1;

function readOptions() {
  const known = {
    only: { type: "string", multiple: true, default: [] },
    json: { type: "string" },
    beside: { type: "string", multiple: true, default: [] },
    long: { type: "boolean", default: false },
  };
  try {
    return parseArgs({ options: known }).values;
  } catch (error) {
    return stop(error.message);
  }
}

async function load() {
  const { start, version, processes } = await import("./rows/start.mjs");
  const { models } = await import("./rows/models.mjs");
  const { prompt } = await import("./rows/latency.mjs");
  const { deltas } = await import("./rows/deltas.mjs");
  const { dialects } = await import("./rows/dialects.mjs");
  const { secrets } = await import("./rows/secrets.mjs");
  const { pacedAnswer } = await import("./rows/paced.mjs");
  const { reads } = await import("./rows/reads.mjs");
  const { ast } = await import("./rows/ast.mjs");
  const { apply } = await import("./rows/apply.mjs");
  const { review } = await import("./rows/review.mjs");
  const { reviewView } = await import("./rows/review-view.mjs");
  const { commands } = await import("./rows/commands.mjs");
  const { stall } = await import("./rows/stall.mjs");
  const { queue } = await import("./rows/queue.mjs");
  const { sessions } = await import("./rows/sessions.mjs");
  const { history } = await import("./rows/history.mjs");
  const { hostTools } = await import("./rows/host-tools.mjs");
  const { search } = await import("./rows/search.mjs");
  const { realTree } = await import("./rows/real-tree.mjs");
  const { modules } = await import("./rows/modules.mjs");
  const { terminal } = await import("./rows/terminal.mjs");
  const { sandbox } = await import("./rows/sandbox.mjs");
  return [
    { name: "start", measure: start },
    { name: "version", measure: version },
    { name: "models", measure: models },
    { name: "processes", measure: processes },
    { name: "prompt", measure: prompt },
    { name: "deltas", measure: deltas },
    { name: "dialects", measure: dialects },
    { name: "secrets", measure: secrets },
    { name: "paced", measure: pacedAnswer, needsLong: true },
    { name: "reads", measure: reads },
    { name: "review", measure: review },
    { name: "review-view", measure: reviewView },
    { name: "sandbox", measure: sandbox },
    { name: "commands", measure: commands },
    { name: "ast", measure: ast },
    { name: "apply", measure: apply },
    { name: "stall", measure: stall },
    { name: "queue", measure: queue },
    { name: "sessions", measure: sessions },
    { name: "history", measure: history },
    { name: "host-tools", measure: hostTools },
    { name: "search", measure: search },
    { name: "real-tree", measure: realTree },
    { name: "modules", measure: modules },
    { name: "terminal", measure: terminal },
  ];
}

function seconds() {
  return `${((performance.now() - startedAt) / 1000).toFixed(1).padStart(6)} s`;
}

function stop(problem) {
  process.stderr.write(`${problem}\n`);
  process.exit(1);
}
