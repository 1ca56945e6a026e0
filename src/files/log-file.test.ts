// The log file holds what was asked for, a line at once, and hurts nobody when it cannot be written.

import { mkdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import type { Log } from "../base/log.js";
import { manualClock } from "../testing/manual-clock.js";
import { withLogFile } from "./log-file.js";

let home: string;
beforeEach(() => {
  home = temporaryDirectory();
});

function open(wish: string) {
  const told: string[] = [];
  const stderr: Log = { warn: (text) => told.push(text), error: (text) => told.push(text) };
  const log = withLogFile(stderr, wish, { cwd: home, agentDir: join(home, "agent"), clock: manualClock() });
  const read = (name: string) => readFileSync(join(home, name), "utf8").replaceAll(/^\S+T\S+Z \d+ /gm, "");
  return { log, told, read };
}

function sayAll(log: Log): void {
  log.trace?.("debug", "a detail");
  log.trace?.("info", "a step");
  log.warn("\u001b[31mtwo\nlines\u001b[0m");
  log.error("broken", "why");
}

const all = ["debug a detail", "info a step", "warn two\n  lines", "error broken\n  why"];

it.each([
  ["logs/galley.txt", "logs/galley.txt", all],
  ["debug:galley.txt", "galley.txt", all],
  ["info:galley.txt", "galley.txt", all.slice(1)],
  ["error", "agent/galley.log", all.slice(3)],
  ["warning", "warning", all],
])("%s", (wish, file, lines) => {
  const { log, told, read } = open(wish);
  sayAll(log);
  expect(read(file)).toBe(`${lines.join("\n")}\n`);
  expect(told).toEqual(["\u001b[31mtwo\nlines\u001b[0m", "broken"]);
});

it("a line has the time and the process, and is readable by its user only", () => {
  const { log } = open("galley.txt");
  log.warn("hello");
  const path = join(home, "galley.txt");
  expect(readFileSync(path, "utf8")).toMatch(
    new RegExp(`^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z ${process.pid} warn hello\n$`),
  );
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it("goes on behind what is there, and bounds what one line may hold", () => {
  const { log, read } = open("galley.txt");
  log.warn("first");
  open("galley.txt").log.warn("x".repeat(1_000_000));
  expect(read("galley.txt")).toMatch(/^warn first\nwarn x+\n$/);
  expect(statSync(join(home, "galley.txt")).size).toBeLessThan(20_000);
});

it.each(["a directory", "a pipe without a reader", "stdout"])("%s costs one warning", async (kind) => {
  const path = join(home, "target");
  if (kind === "a directory") mkdirSync(path);
  else if (kind === "stdout") symlinkSync("/dev/stdout", path);
  else {
    const { execFileSync } = await import("node:child_process");
    execFileSync("mkfifo", [path]);
  }
  const { log, told } = open(path);
  sayAll(log);
  sayAll(log);
  expect(told.filter((text) => text.startsWith(`GALLEY_LOG: nothing is logged to ${path}: `))).toHaveLength(1);
});
