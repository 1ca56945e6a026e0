// Runs the built program once, keeps what V8 compiled beside each of its files, and reports the units it loaded. Called
// by the build with a program's usual first minutes on stdin; see bin/galley.js for the other end.
"use strict";

const { writeFileSync } = require("node:fs");
const vm = require("node:vm");

const [report] = process.argv.splice(2, 1);
const scripts = new Map();
const units = [];
const { Script } = vm;
vm.Script = class extends Script {
  constructor(source, { filename }) {
    super(source, { filename }); // as if there were no cache
    scripts.set(filename, this);
  }
};
globalThis.galleyUnits = units;
process.on("exit", () => {
  for (const [filename, script] of scripts) writeFileSync(`${filename}.cache`, script.createCachedData());
  writeFileSync(report, JSON.stringify({ units }));
});
require("../bin/galley.js");
