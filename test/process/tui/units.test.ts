// Only the terminal program evaluates code of the terminal program: other modes pay nothing for it.

import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { ensureBuilt } from "../../kit/rpc-host.js";
import { emptyHome, galleyBin, projectRoot } from "../../kit/run-galley.js";

beforeAll(ensureBuilt, 150_000);

const loaded = (args: readonly string[], input: string): string[] => {
  const { home, env } = emptyHome();
  const report = join(home, "report.cjs");
  // The pack of all units that no usual run needs, and the library that draws, are files of their own.
  writeFileSync(
    report,
    `const { Script } = require("node:vm");
const names = [];
require("node:vm").Script = class extends Script {
  constructor(source, options) { super(source, options); names.push(options.filename.split("/").pop()); }
};
process.on("exit", () => require("node:fs").writeFileSync(process.env.REPORT, names.join(" ")));`,
  );
  const list = join(home, "list");
  const options = { cwd: home, input, encoding: "utf8", env: { ...env, REPORT: list } } as const;
  const { status } = spawnSync(process.execPath, ["--require", report, galleyBin, ...args], options);
  expect(status).toBe(0);
  return readFileSync(list, "utf8").split(" ");
};

it.each([
  ["RPC mode", ["--mode", "rpc"], '{"id":"1","type":"prompt","message":"help"}\n'],
  ["print mode", ["-p", "help"], ""],
  ["plain mode", ["--plain"], "help\n/quit\n"],
])("%s does not load the library that draws", (_name, args, input) => {
  expect(loaded(args, input).filter((name) => name.includes("pi-tui"))).toEqual([]);
});

it("has no unit of the terminal program in the packs of what RPC mode evaluates", () => {
  // The build puts into these packs exactly the units that a start, a session and the tools evaluated in RPC mode.
  for (const pack of ["main.js", "run.js", "tools.js"]) {
    const text = readFileSync(join(projectRoot, "dist/cli", pack), "utf8");
    for (const ours of ["Window too small", "bracketed paste", "The review has ended.", "Press Ctrl-C again to leave"])
      expect([pack, ours, text.includes(ours)]).toEqual([pack, ours, false]);
  }
});
