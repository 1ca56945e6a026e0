// A stand-in for galley with one session: it runs commands in the staged view and says what it does, to be killed. Or it
// is the next start, which cleans up, or goes on with the session, and says what it found.

import { spawn, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";

const [module, place, work] = process.argv.slice(2);
const { createStageView, cleanLayers, createViewProcesses } = await import(module);
const root = join(place, "project");
const agentDir = join(place, "agent");
const tell = (text) => writeSync(1, `${text}\n`);
const programs = createViewProcesses({ env: process.env });
const staged = [
  { path: join(root, "staged"), state: { type: "file", bytes: Buffer.from("staged\n"), mode: 0o644, mtimeMs: 1000 } },
  { path: join(root, "d", "0"), state: undefined },
];

const open = (hasPending) =>
  createStageView({ roots: [root], agentDir, sessionId: "s", env: {}, hasPending: () => hasPending, ...programs });

// Of a process that is killed before its child has asked for its signal, the child sees another parent.
const guarded = `[ "$PPID" = "$3" ] && cd "$1" && eval "$2"`;

/** In the view, and never longer than this process. */
const enter = (holder, command) => [
  ...["--preserve-credentials", "--user", "--mount", "--target", String(holder), "--"],
  ...[
    "setpriv",
    "--pdeathsig",
    "KILL",
    "--",
    "sh",
    "-c",
    guarded,
    `view-of-${place}`,
    root,
    command,
    String(process.pid),
  ],
];

const deeds =
  "i=0; while :; do i=$((i+1)); echo $i > new$i; echo $i >> d/$((i%20)); rm -rf d/e; mkdir d/e; echo x > d/e/x; echo $i > $i.log; done";

async function runCommands() {
  tell("create");
  const view = await open(false);
  for (;;) {
    tell("open");
    const held = await view.open(staged);
    tell("command");
    const child = spawn("nsenter", enter(held.holder, deeds), { stdio: "ignore" });
    await new Promise((resolve) => setTimeout(resolve, 60));
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("close", resolve));
    tell("collect");
    await held.collect();
    tell("release");
    await held.release();
    if (work === "close") break;
  }
  tell("close");
  await view.close();
  tell("done");
}

/** What the session had staged and kept is there again. */
async function goOn() {
  const view = await open(false);
  const held = await view.open(staged);
  const { stdout } = spawnSync("nsenter", enter(held.holder, "cat staged; ls d | head -1; echo more > more"), {
    encoding: "utf8",
  });
  const { effects, notStaged } = await held.collect();
  await held.release();
  await view.close();
  return { seen: stdout, effects: effects.map(({ path }) => path.slice(root.length + 1)), notStaged };
}

if (work === "next" || work === "resume") {
  const report = work === "resume" ? await goOn() : {};
  await cleanLayers({ agentDir, env: {}, hasPending: () => false });
  const left = readdirSync(join(agentDir, "stage"));
  const mounts = readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .filter((line) => line.includes(place));
  tell(JSON.stringify({ ...report, left, mounts }));
} else await runCommands();
