// Loaded before the program: at its end, tells which scripts it ran, whether their code caches were taken, what it
// loaded of Node's own, and which model tables it had opened by then and before its first frame.
"use strict";

const fs = require("node:fs");
const { basename, dirname } = require("node:path");
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
const tables = [];
let tablesBeforeReady;
const { openSync, writeFileSync } = fs;
fs.openSync = (path, ...rest) => {
  const descriptor = openSync(path, ...rest);
  if (basename(dirname(String(path))) === "catalog") tables.push(basename(String(path)));
  return descriptor;
};
const { write } = process.stdout;
process.stdout.write = function (...args) {
  tablesBeforeReady ??= tables.length;
  return write.apply(this, args);
};
process.on("exit", () => {
  const builtin = process.moduleLoadList.filter((name) => /^NativeModule [a-z_]+$/.test(name));
  const report = {
    scripts,
    tables,
    tablesBeforeReady,
    builtin: builtin.map((name) => name.slice("NativeModule ".length)),
  };
  writeFileSync(process.env.START_REPORT, JSON.stringify(report));
});
