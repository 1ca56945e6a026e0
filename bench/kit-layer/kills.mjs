// SIGKILL to a galley with a staged view: while it opens one, runs a command in it, collects, or cleans up. The project
// is untouched, no process and no mount is left, and the next start leaves no layer.

import { spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { randomFrom } from "../kit-session/random.mjs";

const ownWorker = fileURLToPath(new URL("worker.mjs", import.meta.url));
const limitMs = 3000;
const lanes = 2;
const phases = ["create", "open", "command", "collect", "release", "close"];

/** `uids`: whom the stand-ins run as, in turn; undefined is the user of this process. */
export async function runViewKills({ module, directory, count, seed, uids = [undefined] }) {
  const figures = {
    kills: 0,
    toTheEnd: 0,
    resumed: 0,
    torn: 0,
    survivors: 0,
    mountsLeft: 0,
    layersLeft: 0,
    otherwise: 0,
  };
  for (const phase of phases) figures[`during ${phase}`] = 0;
  const problems = [];
  const worker = join(directory, "worker.mjs"); // beside the module: another user may be shut out of the checkout
  copyFileSync(ownWorker, worker);
  if (uids.length > 1) for (const path of [directory, worker]) chmodSync(path, 0o755);
  let next = 0;
  const lane = async () => {
    while (next < count) {
      const round = next++;
      await killOnce({ module, worker, directory, seed, round, figures, problems, uid: uids[round % uids.length] });
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return { ...figures, problems };
}

async function killOnce({ module, worker, directory, seed, round, figures, problems, uid }) {
  const random = randomFrom(seed * 100_000 + round);
  const phase = phases[round % phases.length];
  const place = join(directory, `round-${round}`);
  plant(place, uid);
  const before = seenIn(join(place, "project"));
  const delayMs = random.below(phase === "command" ? 60 : 25);
  const { wasKilled } = await run(
    { module, worker, place, work: phase === "close" ? "close" : "go", uid },
    { phase, delayMs },
  );
  if (wasKilled) figures.kills++;
  else figures.toTheEnd++;
  if (wasKilled) figures[`during ${phase}`]++;
  const tell = (figure, text) => {
    figures[figure]++;
    problems.push(`round ${round}, ${phase} + ${delayMs} ms: ${text}`);
  };
  const left = await untilNone(() => bearers(place));
  if (left.length > 0) tell("survivors", left.join(", "));
  const isResumed = random.below(2) === 0;
  if (isResumed) figures.resumed++;
  const { output } = await run({ module, worker, place, work: isResumed ? "resume" : "next", uid }, {});
  const report = parsed(output);
  if (report === undefined) tell("otherwise", `the next start said: ${output}`);
  if (report?.left.length) tell("layersLeft", report.left.join(", "));
  if (report?.mounts.length) tell("mountsLeft", report.mounts.join(", "));
  if (isResumed && report && !isAsStaged(report)) tell("otherwise", output);
  const after = seenIn(join(place, "project"));
  if (after !== before) tell("torn", "the project is not as it was");
  const stillThere = bearers(place);
  if (stillThere.length > 0) tell("survivors", stillThere.join(", "));
  rmSync(place, { recursive: true, force: true });
}

function plant(place, uid) {
  const root = join(place, "project");
  mkdirSync(join(root, "d"), { recursive: true });
  mkdirSync(join(place, "agent", "stage"), { recursive: true, mode: 0o700 });
  writeFileSync(join(root, ".gitignore"), "*.log\n");
  for (let index = 0; index < 20; index++) writeFileSync(join(root, "d", String(index)), `${index}\n`);
  if (uid === undefined) return;
  const own = (path) => {
    chownSync(path, uid, uid);
    if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) own(join(path, name));
  };
  own(place);
  chmodSync(place, 0o700);
}

/** Content, permissions, times and inodes. */
function seenIn(root) {
  const lines = [];
  const look = (path) => {
    const stat = lstatSync(path, { bigint: true });
    lines.push([path, stat.ino, stat.mode, stat.mtimeNs, stat.ctimeNs].join(" "));
    if (stat.isDirectory()) for (const name of readdirSync(path).sort()) look(join(path, name));
    else lines.push(readFileSync(path, "latin1"));
  };
  look(root);
  return lines.join("\n");
}

function run({ module, worker, place, work, uid }, { phase, delayMs }) {
  const command = [process.execPath, worker, module, place, work];
  const user = ["setpriv", "--reuid", String(uid), "--regid", String(uid), "--clear-groups", "--"];
  const [file, ...args] = uid === undefined ? command : [...user, ...command];
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: ["ignore", "pipe", "pipe"], env: { PATH: process.env.PATH } });
    let output = "";
    let isTimed = false;
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => {
        output += chunk;
        if (isTimed || phase === undefined || !output.includes(`${phase}\n`)) return;
        isTimed = true;
        setTimeout(() => child.kill("SIGKILL"), delayMs);
      });
    child.on("close", (_code, signal) => resolve({ output, wasKilled: signal === "SIGKILL" }));
  });
}

function parsed(output) {
  try {
    return JSON.parse(output);
  } catch {
    return undefined; // the caller tells what it said
  }
}

function isAsStaged({ seen, effects, notStaged }) {
  return seen === "staged\n1\n" && effects.join() === "more" && notStaged.length === 0;
}

/** Processes that name the place: stand-ins, holders, commands. */
function bearers(place) {
  const found = [];
  for (const pid of readdirSync("/proc")) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      if (command.includes(`${place}/`) || command.includes(`${place}\0`)) found.push(`${pid} ${command.slice(0, 40)}`);
    } catch {
      // it ended meanwhile
    }
  }
  return found;
}

async function untilNone(look) {
  const until = performance.now() + limitMs;
  for (;;) {
    const found = look();
    if (found.length === 0 || performance.now() > until) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
