// Runs the built program, keeps what V8 compiled of the named packs beside them, and reports the units that were used.
// The other end is bin/galley.js.
"use strict";

const { writeFileSync } = require("node:fs");
const { basename } = require("node:path");
const vm = require("node:vm");

const [report, keep, mode] = process.argv.splice(2, 3);
const scripts = new Map();
const units = [];
const { Script } = vm;
vm.Script = class extends Script {
  constructor(source, { filename }) {
    super(source, { filename }); // as if there were no cache
    scripts.set(filename, { script: this, cache: `${filename}.${source.slice(2, 18)}.cache` });
  }
};
globalThis.galleyUnits = units;
process.on("exit", () => {
  for (const [filename, { script, cache }] of scripts)
    if (keep.split(",").includes(basename(filename))) writeFileSync(cache, script.createCachedData());
  writeFileSync(report, JSON.stringify({ units }));
});
if (mode === "terminal") pretendTerminal();
require("../bin/galley.js");

/** A build has no terminal: pipes that say they are one do, since what is drawn is only searched for a text. */
function pretendTerminal() {
  Object.assign(process.stdin, { isTTY: true, setRawMode: () => process.stdin });
  process.stdout.isTTY = true;
}
