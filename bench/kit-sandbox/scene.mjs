// What a confined command could reach if it were not confined: a project with protected paths, a home with credentials and a
// directory outside of the project, processes of the same user, and servers. Made by the user that the commands run as.

import { execFileSync, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

export async function makeScene(base) {
  const place = (name) => join(base, name);
  const scene = {
    project: place("project"),
    second: place("second"),
    template: place("template"),
    home: place("home"),
    outside: place("home/outside"),
    agent: place("home/.galley/agent"),
    temporary: place("temporary"),
    runtime: place("runtime"),
    children: [],
    servers: [],
  };
  for (const path of [scene.outside, scene.agent, scene.temporary, scene.runtime]) mkdirSync(path, { recursive: true });
  makeTemplate(scene.template);
  resetScene(scene);
  await startOthers(scene);
  return scene;
}

/** Before each command. */
export function resetScene({ project, second, home, outside, agent, runtime, template }) {
  for (const path of [project, second]) {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path, { recursive: true });
  }
  for (const name of readdirSync(outside))
    if (!name.endsWith(".kept")) rmSync(join(outside, name), { recursive: true });
  writeFileSync(join(outside, "file"), "before\n");
  for (const name of [".ssh", ".config/gh"]) mkdirSync(join(home, name), { recursive: true });
  for (const name of [".ssh/id_rsa", ".netrc", ".config/gh/hosts.yml", "secret-notes"])
    writeFileSync(join(home, name), "CREDENTIAL\n");
  writeFileSync(join(agent, "auth.json"), "CREDENTIAL\n");
  writeFileSync(join(runtime, "token"), "CREDENTIAL\n");
  mkdirSync(join(home, "tools/bin"), { recursive: true });
  writeFileSync(join(home, "tools/bin/own-tool"), "#!/bin/sh\necho tool in the home\n");
  chmodSync(join(home, "tools/bin/own-tool"), 0o755);
  cpSync(template, project, { recursive: true });
  symlinkSync(outside, join(project, "way-out"));
}

/** A repository with one commit. */
function makeTemplate(template) {
  mkdirSync(template, { recursive: true });
  git(template, "init", "-q", "-b", "main");
  writeFileSync(join(template, ".envrc"), "export A=1\n");
  writeFileSync(join(template, "code.txt"), "one\n");
  writeFileSync(join(template, ".gitignore"), "way-out\n");
  git(template, "add", "-A");
  git(template, "commit", "-q", "-m", "first");
}

export function git(cwd, ...args) {
  const identity = ["-c", "user.name=T", "-c", "user.email=t@example.invalid", "-c", "safe.directory=*"];
  return execFileSync("git", [...identity, ...args], { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

export async function closeScene({ children, servers }) {
  for (const child of children) child.kill("SIGKILL");
  for (const server of servers) server.close();
}

/** Processes of the same user, and servers, which stay for all commands. */
async function startOthers(scene) {
  const { outside, home } = scene;
  const descriptor = openSync(outside, "r");
  const victim = spawn("sleep", ["3600"], {
    cwd: outside,
    env: { VICTIM_SECRET: "CREDENTIAL" },
    stdio: ["ignore", "ignore", "ignore", descriptor],
  });
  const namespaced = spawn("unshare", ["--user", "--map-root-user", "--mount", "sleep", "3600"], { stdio: "ignore" });
  const terminal = spawn("script", ["-q", "-c", `tty > ${join(outside, "tty.kept")}; sleep 3600`, "/dev/null"], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  scene.children.push(victim, namespaced, terminal);
  for (const child of scene.children) child.on("error", () => {});
  const listen = (address) =>
    new Promise((resolve, reject) => {
      const server = createServer((socket) => socket.end("CREDENTIAL")).on("error", reject);
      scene.servers.push(server);
      server.listen(address, () => resolve(server.address()));
    });
  const { port } = await listen({ port: 0, host: "127.0.0.1" });
  await listen({ path: join(outside, "socket.kept") });
  await listen({ path: `\0galley-test-${process.pid}` });
  const datagrams = createSocket("udp4");
  scene.servers.push(datagrams);
  scene.datagrams = 0;
  datagrams.on("message", () => scene.datagrams++);
  await new Promise((resolve) => datagrams.bind(0, "127.0.0.1", resolve));
  await until(
    () => existsSync(join(outside, "tty.kept")) && readFileSync(join(outside, "tty.kept"), "utf8") !== "",
    5000,
  );
  scene.variables = {
    OUT: outside,
    OWN_HOME: home,
    AGENT: scene.agent,
    RUNTIME: scene.runtime,
    SECOND: scene.second,
    VICTIM: String(victim.pid),
    NAMESPACED: String(namespaced.pid),
    PORT: String(port),
    DATAGRAM_PORT: String(datagrams.address().port),
    ABSTRACT: `galley-test-${process.pid}`,
    WORKER: String(process.pid),
    TTY: existsSync(join(outside, "tty.kept")) ? readFileSync(join(outside, "tty.kept"), "utf8").trim() : "",
    NODE: process.execPath,
    WANTED_UID: String(process.getuid()),
    WANTED_GID: String(process.getgid()),
  };
}

export async function until(isSo, timeoutMs) {
  const deadline = Date.now() + timeoutMs;
  while (!isSo() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 5));
  return isSo();
}
