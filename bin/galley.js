#!/usr/bin/env node
"use strict";

// Starts the program. Two things are done here because they must not wait for it: the version, and the code cache
// that saves most of the time Node needs to compile the program (Node ignores a cache that does not fit).

const { readFileSync, writeSync } = require("node:fs");
const { basename, dirname, join } = require("node:path");

const [, started, first, ...rest] = process.argv;
// In the place of another program, the program itself knows which version that is.
const isPlain = !process.env.GALLEY_AS && /^galley(?:\.js)?$/.test(basename(started));
if (isPlain && (first === "--version" || first === "-v") && rest.length === 0) printVersion();
else run(join(__dirname, "../dist/cli/main.js"));

function printVersion() {
  try {
    writeSync(1, `${require("../package.json").version}\n`);
  } catch (error) {
    if (error.code === "EPIPE") return; // the reader has gone
    process.stderr.write(`galley: Cannot write the output: ${error.message}\n`);
    process.exitCode = 3;
  }
}

function run(filename) {
  const { Script } = require("node:vm");
  // The build sees to it that the file is ASCII and one function; latin1 is ASCII that is not looked at.
  const source = readFileSync(filename, "latin1");
  // It begins with a digest of itself, by which its cache is called: V8 would take that of any text as long as this one.
  const program = new Script(source, { filename, cachedData: read(`${filename}.${source.slice(2, 18)}.cache`) });
  const directory = dirname(filename);
  const module = { exports: {}, load: (name) => run(join(directory, name)) };
  program.runInThisContext().call(module.exports, module.exports, requireFrom(directory), module, filename, directory);
  return module.exports;
}

/** Node's own `createRequire` would have to be loaded first. */
function requireFrom(directory) {
  return (name) => require(name.startsWith(".") ? join(directory, name) : name);
}

function read(path) {
  try {
    return readFileSync(path);
  } catch {
    return undefined; // no cache was made: the plain way works too
  }
}
