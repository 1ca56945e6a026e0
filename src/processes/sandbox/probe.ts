// What this machine can do, found out by a real command in a real box: it must be able to write inside and must not be
// able to write outside. What a program is called, and what it says of itself, proves nothing.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../base/errors.js";
import { makeOwnedDirectory, removeLeftDirectories } from "../../files/disk/owned-directories.js";
import type { Box, BoxRules } from "./box.js";

const probeMs = 10_000;

/** Undefined: it confines. Otherwise why not. */
export async function probeBox(makeBox: (rules: BoxRules) => Box): Promise<string | undefined> {
  await removeLeftDirectories("probe");
  const directory = makeOwnedDirectory("probe");
  try {
    const [inside, outside] = [join(directory, "inside"), join(directory, "outside")];
    const rules: BoxRules = {
      mode: "workspace",
      roots: [inside],
      home: join(directory, "home"),
      agentDir: join(directory, "agent"),
      tempDir: join(directory, "temporary"),
      hide: [],
      show: [outside],
      unixSockets: "own",
      network: "off",
    };
    for (const path of [inside, outside, rules.home, rules.agentDir, rules.tempDir]) mkdirSync(path);
    await run(makeBox(rules), inside, 'echo > "$0/written"; echo > "$1/written"; test -d "$1"', [inside, outside]);
    if (existsSync(join(outside, "written"))) return "a confined command could write outside.";
    return existsSync(join(inside, "written")) ? undefined : "a confined command could not write inside.";
  } catch (error) {
    return messageOf(error).replace(/^Sandbox failed to start: /, "");
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function run(box: Box, cwd: string, script: string, args: readonly string[]): Promise<void> {
  const command = { file: "/bin/sh", args: ["-c", script, ...args], mergesOutput: true };
  const boxed = await box.wrap(command, { cwd, env: { PATH: "/usr/bin:/bin" } });
  const child = spawn(boxed.command.file, boxed.command.args, {
    cwd: boxed.cwd,
    env: boxed.env,
    detached: true,
    stdio: ["ignore", "ignore", "pipe", ...boxed.stdio],
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    const timer = setTimeout(() => {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    }, probeMs);
    child.on("error", reject);
    child.on("exit", (exitCode) => {
      clearTimeout(timer);
      resolve(exitCode);
    });
    if (child.pid !== undefined) boxed.started(child);
  });
  await boxed.ended();
  if (code !== 0) throw new Error(`a confined command ended with ${code ?? "a signal"}.`);
}
