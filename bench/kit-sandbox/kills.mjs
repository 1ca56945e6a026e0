// kill -9 to a galley that runs confined commands: no process of theirs may live on, also none that left its group and
// cleared its environment, and the next galley removes the stubs from the project.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "./scene.mjs";

const program = `
const { createNodeProcesses, createSandbox, silentLog } = await import(process.argv[1]);
const [, , base, path, show, line] = process.argv;
const place = (name) => base + "/" + name;
const env = { ...process.env, PATH: path, HOME: place("home") };
const sandbox = createSandbox({ env, projectRoot: place("project"), log: silentLog });
const processes = createNodeProcesses({ env, log: silentLog });
const box = await sandbox.box({ mode: "workspace", roots: [place("project")], home: place("home"), agentDir: place("agent"),
  tempDir: place("temporary"), hide: [], show: [show], unixSockets: "own", network: "off" });
await processes.run({ command: { shell: line }, cwd: place("project"), box, onOutput: () => void process.stdout.write("running\\n") });
await processes.shutdown();
`;

export async function runBoxKills(prepared, { mechanism, count }) {
  const base = mkdtempSync(join(prepared.directory, "kills-"));
  for (const name of ["project", "home", "agent", "temporary"]) mkdirSync(join(base, name));
  const path = mechanism === "namespaces" ? prepared.hiding : process.env.PATH;
  const start = (line) =>
    spawn(
      process.execPath,
      ["--input-type=module", "-e", program, prepared.module, base, path, prepared.hiding, line],
      {
        // A kill during the probe leaves the probe's directory.
        env: { ...process.env, TMPDIR: base },
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
  let [survivors, seen] = [0, 0];
  for (let round = 0; round < count; round++) {
    const tag = `7${process.pid}${round}.5`;
    const child = start(`setsid env -i sleep ${tag} & (setsid sleep ${tag} &); echo ready; wait`);
    // Half of the rounds while the box is being made.
    if (round % 2 === 0) {
      await new Promise((resolve) => child.stdout.once("data", resolve));
      if (await until(() => isRunning(`sleep\0${tag}`), 10_000)) seen++;
    } else {
      await new Promise((resolve) => setTimeout(resolve, 40 + ((round * 13) % 160)));
    }
    child.kill("SIGKILL");
    await new Promise((resolve) => child.on("exit", resolve));
    if (!(await until(() => !isRunning(`sleep\0${tag}`), 10_000))) survivors++;
  }
  await new Promise((resolve) => start("true").on("exit", resolve));
  const left = readdirSync(join(base, "project"));
  return { kills: count, seenRunning: seen, survivors, stubsLeft: left.length, problems: left };
}

function isRunning(text) {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .some((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, "latin1").includes(text);
      } catch {
        return false; // gone meanwhile
      }
    });
}
