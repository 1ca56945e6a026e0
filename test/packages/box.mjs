// Where strangers' code runs: without network, with an empty home and a private /dev and /tmp. Nothing else can be written.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
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
    return "run npm install --no-save --ignore-scripts --omit=optional in test/packages";
  if (!existsSync(newerNode) || !existsSync(pi)) return "run npm ci --prefix test/oracles --ignore-scripts";
}

/** Both on the same Node: some packages need a newer one than the tests run on. */
export const agents = {
  pi: { command: [newerNode, pi], variables: {} },
  galley: { command: [newerNode, join(root, "bin/galley.js")], variables: { GALLEY_AS: "pi" } },
};

/** What drive.mjs printed. */
export async function drive(name, request) {
  const { command, variables } = agents[name];
  const home = mkdtempSync(join(realpathSync(tmpdir()), "galley-test-package-"));
  // The same for both: some packages keep things under a digest of the place.
  const inside = "/home/dev";
  const given = {
    HOME: inside,
    PATH: `${dirname(newerNode)}:/usr/bin:/bin`,
    PI_OFFLINE: "1",
    PI_SKIP_VERSION_CHECK: "1",
    GALLEY_OFFLINE: "1",
    TERM: "dumb",
    npm_config_offline: "true",
    ...variables,
  };
  const places = [...new Set([root, request.folder].filter(Boolean))];
  const args = [
    ...[
      "--ro-bind",
      "/",
      "/",
      "--dev",
      "/dev",
      "--proc",
      "/proc",
      "--tmpfs",
      "/tmp",
      "--tmpfs",
      "/root",
      "--tmpfs",
      "/home",
      "--dir",
      inside,
    ],
    ...places.flatMap((path) => ["--ro-bind", path, path]),
    ...["--bind", home, inside, "--unshare-net", "--unshare-pid", "--die-with-parent", "--clearenv", "--chdir", inside],
    ...Object.entries(given).flatMap(([key, value]) => ["--setenv", key, value]),
    ...[newerNode, join(here, "drive.mjs"), JSON.stringify({ ...request, command })],
  ];
  try {
    return await output(args);
  } finally {
    rmSync(home, { recursive: true, force: true });
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
