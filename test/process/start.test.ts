// What a start reads and loads. None of it changes what the program does, so nothing else would notice.

import { spawnSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";
import { beforeAll, beforeEach, expect, it } from "vitest";
import { ensureBuilt } from "../kit/rpc-host.js";
import { temporaryDirectory } from "../kit/temporary-directory.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const reporter = fileURLToPath(new URL("../kit/report-start.cjs", import.meta.url));
let home = "";

/** The caches are those of the Node that built. Any other takes none of them. */
const fitsThisNode = () => readFileSync(join(root, "dist/cli/v8-version"), "utf8") === process.versions.v8;

beforeAll(ensureBuilt, 130_000);
beforeEach(() => {
  home = temporaryDirectory();
});

it("answers get_state out of the first pack alone, with its code cache and few modules of Node's own", () => {
  const { scripts, builtin } = start(root);
  expect(scripts).toEqual([{ name: "main.js", isCached: fitsThisNode() }]);
  // Not crypto: the session's directory is named by a digest, and get_state tells it.
  for (const heavy of ["os", "http", "https", "child_process", "zlib", "worker_threads"])
    expect(builtin).not.toContain(heavy);
});

it("reads no model table before ready, and one for get_state, with keys for several services", () => {
  expect(start(root)).toMatchObject({ tables: [], tablesBeforeReady: 0 });
  const keys = { GROQ_API_KEY: "k", OPENROUTER_API_KEY: "k", MISTRAL_API_KEY: "k" };
  const { scripts, tables, tablesBeforeReady } = start(root, keys);
  expect({ tables, tablesBeforeReady }).toEqual({ tables: ["openrouter.json"], tablesBeforeReady: 0 });
  expect(scripts).toEqual([{ name: "main.js", isCached: fitsThisNode() }]);
});

it("takes no code cache that was made of another text, and runs without one", () => {
  for (const part of ["bin", "dist/cli", "package.json"])
    cpSync(join(root, part), join(home, part), { recursive: true });
  const main = join(home, "dist/cli/main.js");
  writeFileSync(main, readFileSync(main, "latin1").replace(/^\/\*[0-9a-f]{16}/, `/*${"0".repeat(16)}`), "latin1");
  expect(start(home).scripts).toEqual([{ name: "main.js", isCached: false }]);
});

it("has a code cache for what a session uses, which fits the Node that built", () => {
  const place = join(root, "dist/cli");
  for (const name of ["main.js", "run.js", "tools.js", "lib/eventsource-parser.js", "lib/typebox-compile.js"]) {
    const filename = join(place, name);
    const source = readFileSync(filename, "latin1");
    const cachedData = readFileSync(`${filename}.${source.slice(2, 18)}.cache`);
    expect([name, new Script(source, { filename, cachedData }).cachedDataRejected]).toEqual([name, !fitsThisNode()]);
  }
});

interface Report {
  scripts: { name: string; isCached: boolean }[];
  builtin: string[];
  tables: string[];
  tablesBeforeReady: number;
}

function start(place: string, keys: Record<string, string> = {}): Report {
  const report = join(home, "report.json");
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--require", reporter, join(place, "bin/galley.js"), "--mode", "rpc"],
    {
      cwd: home,
      input: '{"id":"1","type":"get_state"}\n',
      encoding: "utf8",
      env: { PATH: process.env.PATH, HOME: home, START_REPORT: report, ...keys },
    },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toContain('"command":"get_state","success":true');
  return JSON.parse(readFileSync(report, "utf8"));
}
