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

const units = (): Record<string, string[]> =>
  JSON.parse(readFileSync(join(projectRoot, "dist/cli/units.json"), "utf8")) as Record<string, string[]>;

// The build runs each kind and notes which source files it evaluated.
it.each(["start", "session", "tools", "print"])("%s evaluates no file of the terminal program", (kind) => {
  const used = units()[kind] ?? [];
  expect(used).toContain("src/cli/main.ts");
  expect(used.filter((name) => name.startsWith("src/tui/") || name.includes("pi-tui"))).toEqual([]);
});

it("notes the files of the terminal program where it runs", () => {
  const used = units().terminal ?? [];
  expect(used).toContain("src/tui/app.ts");
  expect(used.some((name) => name.includes("pi-tui"))).toBe(true);
  // The first frame needs neither of these.
  expect(used.filter((name) => /^src\/tui\/(?:review\/review-view|pickers\/|plain\/)/.test(name))).toEqual([]);
});
