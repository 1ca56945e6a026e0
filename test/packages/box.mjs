// Where strangers' code runs: without network, with an empty home and a private /dev and /tmp. Nothing else can be written.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
const oracles = join(root, "test/oracles/node_modules");
const newerNode = join(oracles, "node22/bin/node");
const pi = join(oracles, "@earendil-works/pi-coding-agent/dist/cli.js");
const bwrap = ["/usr/bin/bwrap", "/bin/bwrap"].find((path) => existsSync(path));

/** Why packages cannot be run here, if so. */
export function whyNot() {
  if (!bwrap) return "there is no bwrap to confine them";
  if (!existsSync(join(here, "node_modules")))
    return "run npm ci --prefix test/packages --ignore-scripts --omit=optional";
  if (!existsSync(newerNode) || !existsSync(pi)) return "run npm ci --prefix test/oracles --ignore-scripts";
}

/** Both on the same Node: some packages need a newer one than the tests run on. */
export const agents = {
  pi: { command: [newerNode, pi], variables: {} },
  galley: { command: [newerNode, join(root, "bin/galley.js")], variables: { GALLEY_AS: "pi" } },
};

/** The same for both and on every machine: some packages keep things under a digest of the place. */
const inside = "/home/packages-test";
const insidePrograms = "/home/packages-test-programs";

/** What a package finds on PATH does not depend on what the machine has besides. */
const programNames =
  "sh bash env cat ls sleep echo mkdir rm cp mv touch chmod uname which ps kill grep sed head tail sort tr wc id find cut stat date";

function linkPrograms(folder) {
  mkdirSync(folder);
  for (const name of programNames.split(" ")) {
    const found = ["/usr/bin", "/bin"].map((place) => join(place, name)).find((path) => existsSync(path));
    if (found) symlinkSync(found, join(folder, name));
  }
}

/** What drive.mjs printed. */
export async function drive(name, request) {
  const { command, variables } = agents[name];
  const outside = mkdtempSync(join(realpathSync(tmpdir()), "galley-test-package-"));
  const [home, programs] = ["home", "programs"].map((name) => join(outside, name));
  mkdirSync(home);
  linkPrograms(programs);
  const given = {
    HOME: inside,
    PATH: `${dirname(newerNode)}:${insidePrograms}`,
    PI_OFFLINE: "1",
    PI_SKIP_VERSION_CHECK: "1",
    GALLEY_OFFLINE: "1",
    TERM: "dumb",
    npm_config_offline: "true",
    ...variables,
  };
  const places = [...new Set([root, request.folder].filter(Boolean))];
  const args = [
    ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
    ...["/tmp", "/root", "/home"].flatMap((path) => ["--tmpfs", path]),
    ...places.flatMap((path) => ["--ro-bind", path, path]),
    ...["--bind", home, inside, "--ro-bind", programs, insidePrograms, "--chdir", inside],
    ...["--unshare-net", "--unshare-pid", "--die-with-parent", "--clearenv"],
    ...Object.entries(given).flatMap(([key, value]) => ["--setenv", key, value]),
    ...[newerNode, join(here, "drive.mjs"), JSON.stringify({ ...request, command })],
  ];
  try {
    return await output(args);
  } finally {
    rmSync(outside, { recursive: true, force: true });
  }
}

function output(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(bwrap, args, { stdio: ["ignore", "pipe", "pipe"] });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      stderr += text;
    });
    child.on("error", reject);
    child.on("close", (code) => {
      try {
        resolve(JSON.parse(stdout));
      } catch {
        reject(new Error(`The driver ended with ${code}: ${stderr || stdout}`));
      }
    });
  });
}
