// Runs the worker as root or as an ordinary user, with bubblewrap or with a PATH that hides it.

import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSandboxModule } from "./build.mjs";

/** A number without a name: nothing on the machine belongs to it. */
const ordinary = { uid: 61_234, gid: 61_234 };

/** The ways to run it here: both users for root, else only the one who asks. */
export function ways() {
  const users = process.getuid() === 0 ? ["root", "ordinary user"] : ["this user"];
  return users.flatMap((user) => ["bubblewrap", "namespaces"].map((mechanism) => ({ user, mechanism })));
}

/** Why it cannot be run here; undefined where it can. */
export function obstacle({ user, mechanism }) {
  if (process.platform !== "linux") return "needs Linux";
  if (mechanism === "bubblewrap" && !onPath("bwrap")) return "bubblewrap is not installed";
  const missing = ["unshare", "setpriv", "mount", "git", "script", "nsenter"].find((name) => !onPath(name));
  if (missing !== undefined) return `${missing} is not installed`;
  const [file, ...args] = asUser(user, [
    "unshare",
    "--user",
    "--map-root-user",
    "--mount",
    process.execPath,
    "--version",
  ]);
  return spawnSync(file, args, { cwd: "/" }).status === 0 ? undefined : `user namespaces are not allowed for ${user}`;
}

/** A directory that each user can enter: the module and the worker are in it, and a place for each way. */
export async function prepareWorker(directory) {
  if (process.getuid() === 0) openToOthers(directory);
  const module = await buildSandboxModule(directory);
  cpSync(fileURLToPath(new URL(".", import.meta.url)), join(directory, "kit"), { recursive: true });
  const hiding = join(directory, "path-without-bwrap");
  mkdirSync(hiding);
  const names = new Set();
  // What is in the home of root is for root alone.
  for (const place of (process.env.PATH ?? "").split(delimiter).filter((path) => !path.startsWith("/root/")))
    for (const name of existsSync(place) ? readdirSync(place) : [])
      if (name !== "bwrap" && !names.has(name)) {
        names.add(name);
        const program = join(place, name);
        // A program itself: a PATH of links may lie where a box sees nothing.
        symlinkSync(existsSync(program) ? realpathSync(program) : program, join(hiding, name));
      }
  return { directory, module, worker: join(directory, "kit/worker.mjs"), hiding };
}

/** Directories of a test run are the user's alone. Nothing above them is touched. */
function openToOthers(directory) {
  chmodSync(directory, 0o755);
  const above = dirname(directory);
  if (/^galley-/.test(basename(above)) || /^galley-/.test(basename(dirname(above)))) openToOthers(above);
}

/** What the worker answered: `{probe, results}`. */
export async function runTasks(prepared, { user, mechanism }, tasks) {
  const base = mkdtempSync(join(prepared.directory, "scene-"));
  const ids = user === "ordinary user" ? ordinary : undefined;
  if (ids !== undefined) chownSync(base, ids.uid, ids.gid);
  const path = mechanism === "namespaces" ? prepared.hiding : `${process.env.PATH}`;
  // Descriptor 200, as a shell of the user may have it open; it leads out of the project.
  mkdirSync(join(base, "home/outside"), { recursive: true });
  writeFileSync(join(base, "home/outside/input.kept"), "");
  if (ids !== undefined)
    for (const name of ["home", "home/outside", "home/outside/input.kept"])
      chownSync(join(base, name), ids.uid, ids.gid);
  const script = 'exec 200<"$0/home/outside" < "$0/home/outside/input.kept"; exec "$@"';
  const job = join(base, "job.json");
  writeFileSync(
    job,
    JSON.stringify({
      base,
      module: prepared.module,
      show: [...path.split(delimiter), dirname(process.execPath)],
      tasks,
    }),
  );
  const [file, ...args] = asUser(user, ["/bin/bash", "-c", script, base, process.execPath, prepared.worker, job]);
  const child = spawn(file, args, {
    cwd: base,
    env: {
      PATH: path,
      HOME: join(base, "home"),
      LANG: "C.UTF-8",
      WORKER_SECRET: "x",
      TMPDIR: prepared.temporary ?? "/tmp",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [output, problems] = ["", ""];
  child.stdout.on("data", (chunk) => (output += chunk));
  child.stderr.on("data", (chunk) => (problems += chunk));
  const code = await new Promise((resolve) => child.on("close", resolve));
  if (code !== 0) throw new Error(`the worker ended with ${code}: ${problems}`);
  return JSON.parse(output);
}

function asUser(user, words) {
  if (user !== "ordinary user") return words;
  return [
    "setpriv",
    "--reuid",
    String(ordinary.uid),
    "--regid",
    String(ordinary.gid),
    "--clear-groups",
    "--",
    ...words,
  ];
}

export function onPath(name) {
  return (process.env.PATH ?? "").split(delimiter).some((place) => existsSync(join(place, name)));
}
