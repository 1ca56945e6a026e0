// Runs the built program once and keeps what V8 compiled, beside it. Called by the build with a program's usual first
// minutes on stdin; see bin/galley.js for the other end.
"use strict";

const { readFileSync, writeFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { dirname } = require("node:path");
const { Script } = require("node:vm");

const [filename] = process.argv.splice(2, 1);
const script = new Script(readFileSync(filename, "latin1"), { filename });
process.on("exit", () => writeFileSync(`${filename}.cache`, script.createCachedData()));
const module_ = { exports: {} };
script
  .runInThisContext()
  .call(module_.exports, module_.exports, createRequire(filename), module_, filename, dirname(filename));
