// Loaded before the program: at its end, tells which scripts it ran, whether their code caches were taken, and what it
// loaded of Node's own.
"use strict";

const { writeFileSync } = require("node:fs");
const { basename } = require("node:path");
const vm = require("node:vm");

const scripts = [];
const { Script } = vm;
vm.Script = class extends Script {
  constructor(source, options) {
    super(source, options);
    const hasCache = options.cachedData !== undefined;
    scripts.push({ name: basename(options.filename), isCached: hasCache && !this.cachedDataRejected });
  }
};
process.on("exit", () => {
  const builtin = process.moduleLoadList.filter((name) => /^NativeModule [a-z_]+$/.test(name));
  const report = { scripts, builtin: builtin.map((name) => name.slice("NativeModule ".length)) };
  writeFileSync(process.env.START_REPORT, JSON.stringify(report));
});
