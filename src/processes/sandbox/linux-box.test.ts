// Real commands in real boxes, as the user that runs the tests: what start, stop and end look like from outside.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { Server } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { silentLog } from "../../base/log.js";
import { createNodeProcesses } from "../node-processes.js";
import { alive } from "../processes.test-kit.js";
import type { BoxReport, NetworkGate } from "./box.js";
import { allWays, boxWithPrograms, obstacleTo, sandboxRig } from "./sandbox.test-kit.js";

for (const way of allWays) {
  const obstacle = await obstacleTo(way);
  describe.skipIf(obstacle !== undefined)(`${way}${skipped(obstacle)}`, () => {
    test("a command writes in the project and nowhere else, and nothing is left of the box", async () => {
      const { run, project, outside } = sandboxRig(way);
      const { output, exitCode } = await run(`echo in > in; echo out > '${outside}/out' || echo refused; echo $0`);
      expect(output).toMatch(/Read-only file system\n/);
      expect(output).toMatch(/refused\nbash\n$/);
      expect(exitCode).toBe(0);
      expect(readdirSync(project)).toEqual(["in"]);
      expect(readdirSync(outside)).toEqual([]);
    });

    test("both streams, their common pipe, standard input and exit codes are those of the command", async () => {
      const { run, processes, rules, sandbox, project } = sandboxRig(way);
      const box = await sandbox.box(rules);
      const seen: string[] = [];
      const end = await processes.run({
        command: { shell: "cat; echo problem >&2; exit 7" },
        cwd: project,
        stdin: "given",
        box,
        onOutput: (chunk, stream) => void seen.push(`${stream}: ${Buffer.from(chunk)}`),
      });
      expect(end).toEqual({ exitCode: 7, box: { removed: [], blocked: [] } });
      expect(seen.sort()).toEqual(["stderr: problem\n", "stdout: given"]);
      const merged = await run("echo a; echo b >&2; echo c", {}, { mergesOutput: true });
      expect(merged.output).toBe("a\nb\nc\n");
      expect((await run("kill -9 $$")).exitCode).toBe(137);
      await expect(run("true", {}, { cwd: join(project, "missing") })).rejects.toThrow(
        `Working directory does not exist: ${join(project, "missing")}`,
      );
    });

    test("a program with arguments, without a shell; one that is missing is told as its shell does", async () => {
      const { processes, rules, sandbox, project } = sandboxRig(way);
      const box = await sandbox.box(rules);
      const command = (file: string) => ({ command: { file, args: ["a b", "$HOME"] }, cwd: project, box });
      expect((await processes.run(command("/usr/bin/printf"))).exitCode).toBe(0);
      expect((await processes.run(command("/nowhere/program"))).exitCode).toBe(127);
    });

    test("in read-only mode only the temporary directory can be written", async () => {
      const { run, project } = sandboxRig(way);
      const { output } = await run('echo x > new; echo y > "$TMPDIR/y" && echo fine', { mode: "read-only" });
      expect(output).toMatch(/Read-only file system\nfine\n$/);
      expect(readdirSync(project)).toEqual([]);
    });

    test("X-9: what a command made at a protected path is taken away, and said", async () => {
      const { run, project } = sandboxRig(way);
      mkdirSync(join(project, "sub"));
      const made = "echo x > .envrc; mkdir -p .pi/x; ln -s / .mcp.json; echo x > sub/.envrc";
      const { removed } = await run(
        `${made}; git init -q . && git config core.pager evil && echo x > .git/hooks/post-merge`,
        {},
        {
          cwd: join(project, "sub"),
          command: {
            shell: `cd ..; ${made}; git init -q . && git config core.pager evil && echo x > .git/hooks/post-merge`,
          },
        },
      );
      expect(removed).toEqual([
        ".envrc",
        ".git/hooks/post-merge",
        ".mcp.json",
        ".pi",
        "core.pager in .git/config",
        "sub/.envrc",
      ]);
      expect(readdirSync(project).sort()).toEqual([".git", "sub"]);
      expect(readFileSync(join(project, ".git/config"), "utf8")).not.toMatch(/evil/);
    });

    test("stubs are shared by commands at the same time, and gone after the last", async () => {
      const { run, project } = sandboxRig(way);
      const line = "for i in 1 2 3 4 5 6 7 8 9 10; do mkdir -p .vscode/$i && echo made; done 2>/dev/null; true";
      const ends = await Promise.all(Array.from({ length: 6 }, () => run(line)));
      expect(ends.map(({ output }) => output)).toEqual(Array(6).fill(""));
      expect(readdirSync(project)).toEqual([]);
    });

    test("stubs of a galley that crashed are removed by the next", async () => {
      const { run, project, rules } = sandboxRig(way);
      mkdirSync(join(project, ".idea"));
      mkdirSync(join(project, "full"));
      writeFileSync(join(project, "full/file"), "");
      const records = join(rules.agentDir, "sandbox/stubs");
      mkdirSync(records, { recursive: true });
      writeFileSync(join(records, "1-1.json"), JSON.stringify([join(project, ".idea"), join(project, "full")]));
      await run("true");
      expect(readdirSync(project)).toEqual(["full"]);
      expect(readdirSync(records)).toEqual([]);
    });

    test("a stopped command is asked to end first, and takes its processes along", async () => {
      const { run } = sandboxRig(way);
      const tag = `galley-stop-${process.pid}-${way}`;
      const stopping = new AbortController();
      const ended = run(
        `trap 'echo asked; exit 3' TERM; TAG=${tag} setsid sleep 5000 & echo ready; wait`,
        {},
        {
          signal: stopping.signal,
          onOutput(chunk) {
            seen += Buffer.from(chunk).toString("utf8");
            if (seen.includes("ready")) stopping.abort();
            return undefined;
          },
        },
      );
      let seen = "";
      expect(await ended).toMatchObject({ stopped: "aborted", exitCode: 3 });
      expect(seen).toBe("ready\nasked\n");
      expect(alive(tag)).toEqual([]);
    });

    test("a command that ignores being asked is killed", async () => {
      const { run } = sandboxRig(way);
      const tag = `galley-deaf-${process.pid}-${way}`;
      const stopping = new AbortController();
      const line = `trap '' TERM; TAG=${tag} sleep 5000 & echo ready; while :; do wait; done`;
      const onOutput = () => {
        stopping.abort();
        return undefined;
      };
      const { stopped, exitCode } = await run(line, {}, { signal: stopping.signal, onOutput });
      expect({ stopped, exitCode }).toEqual({ stopped: "aborted", exitCode: 137 });
      expect(alive(tag)).toEqual([]);
    });

    test("one that is stopped while its box is made did not run, and that is no failure of the box", async () => {
      const { run, project } = sandboxRig(way);
      const ends = await Promise.all(
        [0, 2, 5, 10, 20, 40].map((timeoutMs) => run("touch ran; sleep 5000", {}, { timeoutMs })),
      );
      expect(ends.map(({ stopped }) => stopped)).toEqual(Array(6).fill("timed_out"));
      expect(readdirSync(project).filter((name) => name !== "ran")).toEqual([]);
    });

    test("X-5: what runs in the background ends with the command", async () => {
      const { run } = sandboxRig(way);
      const tag = `galley-left-${process.pid}-${way}`;
      await run(`TAG=${tag} setsid sleep 5000 >/dev/null 2>&1 & disown; true`);
      expect(alive(tag)).toEqual([]);
    });

    test("a network gate listens inside and is served outside", async () => {
      const { run } = sandboxRig(way);
      const gate = testGate();
      const connect = `${process.execPath} -e 'require("net").connect(+process.env.GATE_PORT,"127.0.0.1").on("data",d=>console.log(String(d)))'`;
      const { output, exitCode } = await run(`${connect}; ls /proc/self/fd | wc -l`, { network: gate });
      expect({ output, exitCode }).toEqual({ output: "served outside\n4\n", exitCode: 0 });
      expect(gate.isClosed()).toBe(true);
    });

    test("a gate that cannot listen stops the command before it begins", async () => {
      const { run, project } = sandboxRig(way);
      const gate = { ...testGate(), listenScript: "console.error('no port'); process.exit(9)" };
      await expect(run("touch ran", { network: gate })).rejects.toThrow(
        "Sandbox failed to start: no port; the listener of the network gate ended with 9.",
      );
      expect(readdirSync(project)).toEqual([]);
    });

    test("the staged view of a holder is what the command sees, with protected paths that can be written", async () => {
      const { run, project, rules } = sandboxRig(way);
      writeFileSync(join(project, "file"), "on the disk\n");
      const view = join(rules.agentDir, "view");
      mkdirSync(view);
      writeFileSync(join(view, "file"), "in the view\n");
      const holder = await holdView(view, project);
      const line = "cat file; id -u; mkdir .vscode && echo x > .vscode/tasks.json; mkdir deep; ls -A";
      const { output, removed } = await run(line, { viewHolder: holder });
      expect(output).toBe(`in the view\n${process.getuid?.()}\n.vscode\ndeep\nfile\n`);
      expect(removed).toEqual([]);
      expect(readdirSync(project)).toEqual(["file"]);
      expect(readdirSync(view).sort()).toEqual([".vscode", "deep", "file"]);
      // A directory that only the view has.
      expect((await run("pwd", { viewHolder: holder }, { cwd: join(project, "deep") })).output).toBe(
        `${project}/deep\n`,
      );
    });

    test("a staged view in a home that is itself below a private directory can be read-only", async () => {
      const { run, rules } = sandboxRig(way);
      const shop = join(rules.home, "shop");
      const view = join(rules.agentDir, "view");
      for (const directory of [shop, view]) mkdirSync(directory);
      writeFileSync(join(view, "file"), "in the view\n");
      const viewHolder = await holdView(view, shop);
      const seen = await run(
        "cat file; touch new || echo refused",
        { mode: "read-only", roots: [shop], show: [...rules.show, rules.home], viewHolder },
        { cwd: shop },
      );
      // The two streams come in any order.
      expect(seen.output.split("\n").filter(Boolean).sort()).toEqual([
        "in the view",
        "refused",
        expect.stringContaining("Read-only file system"),
      ]);
      expect(readdirSync(view)).toEqual(["file"]);
    });

    test("if the helper is killed, its command goes with it", async () => {
      const { run } = sandboxRig(way);
      const tag = `galley-killed-${process.pid}-${way}`;
      const ended = run(
        `TAG=${tag} setsid sleep 5000 & echo ready; wait`,
        {},
        {
          onOutput() {
            for (const pid of alive("galley-box")) if (parentOf(pid) === process.pid) process.kill(pid, "SIGKILL");
            return undefined;
          },
        },
      );
      expect((await ended).exitCode).toBe(137);
      expect(alive(tag)).toEqual([]);
    });
  });
}

/** In the name, so that every report shows it. */
function skipped(reason: string | undefined): string {
  return reason === undefined ? "" : ` (skipped: ${reason})`;
}

/** A process in whose namespace the view is mounted on the project; answers its number. */
async function holdView(view: string, project: string): Promise<number> {
  const script = 'mount --bind "$0" "$1" && echo ready && exec cat';
  const holder = spawn("unshare", ["--user", "--map-root-user", "--mount", "sh", "-c", script, view, project], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void holder.kill("SIGKILL"));
  await new Promise((resolve) => holder.stdout.once("data", resolve));
  return holder.pid as number;
}

/** Undefined for one that has ended meanwhile, as boxes of other tests do. */
function parentOf(pid: number): number | undefined {
  try {
    return Number(/^PPid:\s(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  } catch {
    return undefined;
  }
}

const bubblewrapObstacle = await obstacleTo("bubblewrap");

describe.skipIf(bubblewrapObstacle !== undefined)(`bubblewrap's filter${skipped(bubblewrapObstacle)}`, () => {
  test("with unixSockets none there is no UNIX socket, and pairs of streams remain", async () => {
    const { run } = sandboxRig("bubblewrap");
    const listen = `${process.execPath} -e 'require("net").createServer().on("error",e=>console.log(e.code)).listen(process.env.TMPDIR+"/s",()=>process.exit())'`;
    const fork = `${process.execPath} -p 'String(require("child_process").execSync("echo works"))'`;
    const { output } = await run(`${listen}; ${fork}`, { unixSockets: "none" });
    expect(output).toBe("EPERM\nworks\n\n");
    expect((await run(listen)).output).toBe("");
  });
});

const namespacesObstacle = await obstacleTo("namespaces");

describe.skipIf(namespacesObstacle !== undefined)(`namespaces${skipped(namespacesObstacle)}`, () => {
  test("unixSockets none is refused, because nothing filters calls", async () => {
    const { run, project } = sandboxRig("namespaces");
    await expect(run("touch ran", { unixSockets: "none" })).rejects.toThrow(
      "bash.unixSockets is none, and only bubblewrap on x64 and arm64 can refuse UNIX sockets.",
    );
    expect(readdirSync(project)).toEqual([]);
  });

  /** The second argument is a test of the arguments: those calls do nothing and say that they worked. */
  const lies: [string, string][] = [
    ["all of it", "true"],
    ["what is read-only", 'case "$*" in *remount*) true ;; *) false ;; esac'],
    ["private directories", 'case "$*" in *tmpfs*/tmp) true ;; *) false ;; esac'],
    ["covers", 'case "$*" in *empty-directory*) true ;; *) false ;; esac'],
    ["devices", 'case "$*" in *tmpfs*/dev) true ;; *) false ;; esac'],
    ["the process table", 'case "$*" in *"-t proc"*) true ;; *) false ;; esac'],
  ];
  test.each(lies)("X-3: with a mount that lies about %s, the command does not run", async (_, condition) => {
    const { project, rules } = sandboxRig("namespaces");
    const box = boxWithPrograms(rules, { mount: `if ${condition}; then exit 0; fi\nexec "$real" "$@"` });
    const processes = createNodeProcesses({ env: process.env, log: silentLog });
    onTestFinished(() => processes.shutdown());
    await expect(processes.run({ command: { shell: "touch ran" }, cwd: project, box })).rejects.toThrow(
      /^Sandbox failed to start: /,
    );
    expect(existsSync(join(project, "ran"))).toBe(false);
  });
});

/** As the real one does it: a process inside listens, hands its handle out, and ends. */
function testGate(): NetworkGate & { isClosed(): boolean } {
  const port = "18080";
  let server: Server | undefined;
  let isClosed = false;
  return {
    listenScript: `const s=require("net").createServer().listen(${port},"127.0.0.1",()=>process.send("listening",s,()=>process.exit()))`,
    env: { GATE_PORT: port },
    serve(handle) {
      server = handle as Server;
      server.on("connection", (socket) => socket.end("served outside"));
    },
    blocked: (): BoxReport["blocked"] => [],
    close() {
      isClosed = true;
      server?.close();
    },
    isClosed: () => isClosed,
  };
}
