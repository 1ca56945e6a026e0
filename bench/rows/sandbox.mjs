// What the sandbox adds to the shortest command, against what bubblewrap alone adds to the same shell.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { alternate, expect, row } from "../kit/measure.mjs";
import { buildSandboxModule } from "../kit-sandbox/build.mjs";

const rounds = 25;
const bare = ["bash", "-c", "true"];
const bubblewrap = [
  ...["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-user", "--unshare-pid"],
  ...["--unshare-ipc", "--unshare-uts", "--unshare-net", "--die-with-parent", "--", ...bare],
];

export async function sandbox() {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "galley-bench-")));
  try {
    const { createNodeProcesses, createSandbox, silentLog } = await import(await buildSandboxModule(directory));
    const place = (name) => {
      mkdirSync(join(directory, name));
      return join(directory, name);
    };
    const cwd = place("project");
    const confinement = createSandbox({ env: process.env, projectRoot: cwd, log: silentLog });
    const { mechanism, reason } = await confinement.probe();
    if (mechanism !== "bubblewrap") return [{ skipped: `needs bubblewrap: ${reason}` }];
    const processes = createNodeProcesses({ env: process.env, log: silentLog });
    const box = await confinement.box({
      ...{
        mode: "workspace",
        roots: [cwd],
        home: place("home"),
        agentDir: place("agent"),
        tempDir: place("temporary"),
      },
      ...{ hide: [], show: [], unixSockets: "own", network: "off" },
    });
    const command = { command: { shell: "true" }, cwd, mergesOutput: true };
    const samples = await alternate(rounds, {
      bare: () => timed(() => run(bare)),
      bubblewrap: () => timed(() => run(bubblewrap)),
      plain: () => timed(() => processes.run(command)),
      confined: () => timed(() => processes.run({ ...command, box })),
    });
    await processes.shutdown();
    const added = median(samples.confined) - median(samples.plain);
    const floor = median(samples.bubblewrap) - median(samples.bare);
    return [
      row({
        name: "a confined bash true, over an unconfined one",
        unit: "ms",
        samples: [added],
        against: { name: "3 x bare bwrap + 10 ms", samples: [3 * floor + 10] },
        limit: 1,
      }),
      row({
        name: "a confined bash true",
        unit: "ms",
        samples: samples.confined,
        against: { name: "bare bwrap", samples: samples.bubblewrap },
      }),
    ];
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function timed(work) {
  const startedAt = performance.now();
  const end = await work();
  expect((end.exitCode ?? end) === 0, `a command ended with ${JSON.stringify(end)}`);
  return performance.now() - startedAt;
}

function run([file, ...args]) {
  const child = spawn(file, args, { stdio: "ignore" });
  return new Promise((resolve, reject) => child.on("error", reject).on("exit", resolve));
}

function median(samples) {
  return [...samples].sort((a, b) => a - b)[Math.floor(samples.length / 2)];
}
