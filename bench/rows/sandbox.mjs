// What the sandbox and the staged view add to the shortest command, over RPC as a host sends it, against what bare
// bubblewrap and a bare overlay add to the same shell; and what staging many files costs.

import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, root } from "../kit/agent.mjs";
import { alternate, expect, row } from "../kit/measure.mjs";

const rounds = 25;
const manyRounds = 5;
const bare = ["bash", "-c", "true"];
const bubblewrap = [
  ...["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-user", "--unshare-pid"],
  ...["--unshare-ipc", "--unshare-uts", "--unshare-net", "--die-with-parent", "--", ...bare],
];

export async function sandbox() {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "galley-bench-")));
  const hosts = [];
  const start = (cwd, ...args) => {
    const program = { name: "galley", args: () => [join(root, "bin/galley.js"), "--mode", "rpc", ...args] };
    const host = new Agent(program, { cwd });
    hosts.push(host);
    return host;
  };
  try {
    const small = smallProject(join(directory, "small"));
    const [full, workspace] = [start(small), start(small, "--access", "workspace")];
    const { mechanism, reason, stage } = await abilityOf(workspace);
    if (mechanism !== "bubblewrap") return [{ skipped: `needs bubblewrap: ${reason ?? mechanism}` }];
    const rows = await shortest({ full, workspace, stage, directory });
    return [...rows, ...(await manyFiles({ start, directory, stage }))];
  } finally {
    for (const host of hosts) await host.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Its first commands find out what the machine can do; they are no samples. */
async function abilityOf(host) {
  await host.ready;
  await bash(host, { command: "true" });
  await bash(host, { command: "true", stage: true }).catch(() => {}); // `stage` says why
  const [{ sandbox: found }] = await answers(host, { type: "get_state" });
  return found;
}

async function shortest({ full, workspace, stage, directory }) {
  await bash(full, { command: "true" });
  const overlay = bareOverlay(directory);
  const noView =
    stage.mechanism === "overlay" ? overlay.problem : `no overlay here: ${stage.reason ?? stage.mechanism}`;
  if (!noView) await bash(full, { command: "true", stage: true });
  const samples = await alternate(rounds, {
    bare: () => timed(() => run(bare)),
    bubblewrap: () => timed(() => run(bubblewrap)),
    plain: () => timed(() => bash(full, { command: "true" })),
    confined: () => timed(() => bash(workspace, { command: "true" })),
    ...(noView
      ? {}
      : {
          overlay: () => timed(() => run(overlay.command)),
          staged: () => timed(() => bash(full, { command: "true", stage: true })),
        }),
  });
  const added = (name, base) => median(samples[name]) - median(samples[base]);
  const over = (name, { of, bareOf, floorName }) =>
    row({
      name,
      unit: "ms",
      samples: [added(of, "plain")],
      against: { name: `3 x ${floorName} + 10 ms`, samples: [3 * added(bareOf, "bare") + 10] },
      limit: 1,
    });
  const floorName = "bare overlay and bwrap";
  return [
    over("a confined RPC bash true, over an unconfined one", {
      ...{ of: "confined", bareOf: "bubblewrap", floorName: "bare bwrap" },
    }),
    row({
      name: "a confined RPC bash true",
      unit: "ms",
      samples: samples.confined,
      against: { name: "bare bwrap", samples: samples.bubblewrap },
    }),
    noView
      ? { skipped: `staged commands: ${noView}` }
      : over("a staged RPC bash true, over an unconfined one", { of: "staged", bareOf: "overlay", floorName }),
    ...(noView
      ? []
      : [
          row({
            name: "a staged RPC bash true",
            unit: "ms",
            samples: samples.staged,
            against: { name: floorName, samples: samples.overlay },
          }),
        ]),
  ];
}

const treeFiles = 5000;
const changedFiles = 400;

async function manyFiles({ start, directory, stage }) {
  if (stage.mechanism === "none") return [{ skipped: `staged commands: ${stage.reason}` }];
  const host = start(largeProject(join(directory, "large")));
  await host.ready;
  await bash(host, { command: "true", stage: true });
  const change = `for i in $(seq 0 ${changedFiles - 1}); do echo "// changed" >> "src/d$((i % 50))/f$i.ts"; done`;
  const samples = await alternate(manyRounds, {
    empty: () => timed(() => bash(host, { command: "true", stage: true })),
    many: async () => {
      let staged;
      const ms = await timed(async () => {
        staged = await bash(host, { command: change, stage: true });
        return staged;
      });
      expect(staged.files.length === changedFiles, `${staged.files.length} files were staged`);
      await answers(host, { type: "resolve_pending_action", action: "discard", reason: "measured" });
      return ms;
    },
  });
  return [
    row({
      name: `staging ${changedFiles} changed files of ${treeFiles}`,
      unit: "ms",
      samples: [median(samples.many)],
      against: { name: "4 x an empty staged command + 3 s", samples: [4 * median(samples.empty) + 3000] },
      limit: 1,
    }),
  ];
}

function smallProject(directory) {
  mkdirSync(directory);
  writeFileSync(join(directory, "code.ts"), "export const one = 1;\n");
  return directory;
}

/** A repository, where git is installed: then it is asked which of the changed files it ignores. */
function largeProject(directory) {
  for (let index = 0; index < treeFiles; index++) {
    const folder = join(directory, "src", `d${index % 50}`);
    if (index < 50) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `f${index}.ts`), `export const value${index} = ${index};\n`.repeat(20));
  }
  for (const args of [
    ["init", "-q"],
    ["add", "-A"],
  ])
    spawnSync("git", args, { cwd: directory });
  return directory;
}

/** An overlay over a directory of its own, and bubblewrap in it. Its layer is where one can be. */
function bareOverlay(directory) {
  const lower = join(directory, "lower");
  mkdirSync(lower);
  const problems = [];
  for (const base of [directory, "/dev/shm", "/var/tmp"]) {
    const layer = mkdtempSync(join(base, "galley-bench-"));
    process.on("exit", () => spawnSync("rm", ["-rf", layer]));
    for (const name of ["up", "work"]) mkdirSync(join(layer, name));
    const options = `lowerdir=${lower},upperdir=${layer}/up,workdir=${layer}/work,userxattr`;
    const script = `mount -t overlay -o '${options}' overlay '${lower}' && exec "$@"`;
    const unshare = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"];
    const tried = spawnSync(unshare[0], [...unshare.slice(1), ...bubblewrap], { encoding: "utf8" });
    if (tried.status === 0) return { command: [...unshare, ...bubblewrap] };
    problems.push((tried.stderr ?? "").trim());
  }
  return { problem: `a bare overlay cannot be mounted: ${problems.join("; ")}` };
}

let lastId = 0;

/** The data of the answers, in the order of the commands. */
async function answers(host, ...commands) {
  const named = commands.map((command) => ({ id: `sandbox-${++lastId}`, ...command }));
  const arrived = named.map(({ id }) => host.arrival(`"id":"${id}"`));
  host.forget();
  host.send(...named);
  await Promise.all(arrived);
  return named.map(({ id, type }) => {
    const answer = host.frames().find((frame) => frame.id === id);
    expect(answer?.success, `${type}: ${answer?.error}`);
    return answer.data;
  });
}

async function bash(host, request) {
  const [data] = await answers(host, { type: "bash", ...request });
  return data;
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
