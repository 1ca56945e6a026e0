// V-11: a person changes a file on the disk while a staged command changes it in the view: what the person wrote is never
// overwritten. The action is stale and names the file, and a rebase moves the change where it fits. With the built program.

import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { pathWithMount } from "../../src/files/layer/layer.test-kit.js";
import { openAi, startScriptedServer } from "../../src/testing/index.js";
import { call } from "../kit/print-rig.js";
import { ensureBuilt, modelsAt, RpcHost } from "../kit/rpc-host.js";
import { galleyBin, type Outcome, run } from "../kit/run-galley.js";
import { sandboxAbility } from "../kit/sandbox-rig.js";
import { temporaryDirectory } from "../kit/temporary-directory.js";

await ensureBuilt();
const { noView } = sandboxAbility();
if (noView !== undefined) it.skip(`skipped: commands cannot be staged here: ${noView}`, () => {});

/** The person's line is far from those of the command. */
const original = "a b c d e f g h i j k l m n o p".split(" ");
const text = (rows: readonly string[]) => rows.map((row) => `${row}\n`).join("");
const edited = text(original).replace("h\n", "mine\n");
/** Changes the file, says so, waits for a word, and changes it again. */
const command = "sed -i s/a/A/ file; echo ready; read word; echo end >> file; echo new > other";

const told = "Stale: another program changed file";

/** Without an overlay the view is a copy. */
const path = (mechanism: string) =>
  mechanism === "overlay"
    ? `${process.env.PATH}`
    : pathWithMount('case "$*" in *overlay*) echo "no overlay here" >&2; exit 32 ;; esac; exec "$REAL" "$@"');

describe.skipIf(noView !== undefined).each(["overlay", "copy"])("V-11: in a view by %s", (mechanism) => {
  function rig() {
    const home = temporaryDirectory();
    const cwd = join(home, "project");
    mkdirSync(cwd);
    const file = join(cwd, "file");
    writeFileSync(file, text(original));
    const env = { PATH: path(mechanism), HOME: home, GALLEY_OFFLINE: "1" };
    const galley = (...args: string[]) => run(process.execPath, [galleyBin, ...args], { cwd, env });
    /** `meanwhile` is called between the two changes of the command. */
    const stage = (meanwhile: () => void, script = command) => {
      const child = spawn(process.execPath, [galleyBin, "exec", "--stage", "--", "sh", "-c", script], {
        cwd,
        env,
        stdio: "pipe",
      });
      return new Promise<Outcome>((resolve) => {
        let [stdout, stderr] = ["", ""];
        child.stdout.setEncoding("utf8").on("data", (text: string) => {
          if (stdout === "") {
            meanwhile();
            child.stdin.end("go\n");
          }
          stdout += text;
        });
        child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
        child.on("close", (code) => resolve({ code, stdout, stderr }));
      });
    };
    return { cwd, file, galley, stage };
  }

  const edits: Record<string, (file: string) => void> = {
    "is edited": (file) => writeFileSync(file, edited),
    "is replaced": (file) => {
      writeFileSync(`${file}.new`, edited);
      renameSync(`${file}.new`, file);
    },
  };
  it.each(Object.entries(edits))("a file that %s stays, and a rebase joins both", async (_, edit) => {
    const { file, galley, stage } = rig();
    const staged = await stage(() => edit(file));
    expect(staged).toMatchObject({ code: 0, stderr: expect.stringContaining(told) });
    expect(JSON.parse((await galley("show", "1", "--json")).stdout)).toMatchObject({ action: { status: "stale" } });
    const refused = await galley("apply", "1");
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringMatching(/^galley: Preview is stale.*\(file\)/)]);
    expect(readFileSync(file, "utf8")).toBe(edited);
    expect(existsSync(join(file, "../other"))).toBe(false);

    expect(await galley("rebase", "1")).toMatchObject({ code: 0, stderr: "" });
    expect(await galley("apply", "1")).toMatchObject({ code: 0, stderr: "" });
    expect(readFileSync(file, "utf8")).toBe(`${edited.replace("a\n", "A\n")}end\n`);
  });

  it("a file that is deleted stays away", async () => {
    const { file, galley, stage } = rig();
    expect((await stage(() => rmSync(file))).stderr).toContain(told);
    for (const verb of ["apply", "rebase"]) {
      const refused = await galley(verb, "1");
      expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining("file")]);
    }
    expect(existsSync(file)).toBe(false);
  });

  it("a file that the person makes meanwhile stays", async () => {
    const { file, galley, stage } = rig();
    const other = join(file, "../other");
    await stage(() => writeFileSync(other, "mine\n"));
    const refused = await galley("apply", "1");
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining("(other)")]);
    expect(readFileSync(other, "utf8")).toBe("mine\n");
    expect(readFileSync(file, "utf8")).toBe(text(original));
  });

  it("files of a directory that is replaced stay, though they are older than the command", async () => {
    const { cwd, galley, stage } = rig();
    const [file, made] = [join(cwd, "in/file"), join(cwd, "fresh/file")];
    for (const [name, content] of Object.entries({ in: text(original), mine: edited, other: "mine\n" })) {
      mkdirSync(join(cwd, name));
      writeFileSync(join(cwd, name, "file"), content);
    }
    const replace = () => {
      renameSync(join(cwd, "in"), join(cwd, "old"));
      renameSync(join(cwd, "mine"), join(cwd, "in"));
      renameSync(join(cwd, "other"), join(cwd, "fresh"));
    };
    const script = `mkdir fresh; echo new > fresh/file; cd in; ${command}`;
    expect((await stage(replace, script)).stderr).toContain("Stale: another program changed fresh/file, in/file");
    expect((await galley("apply", "1")).code).toBe(3);
    expect([file, made].map((path) => readFileSync(path, "utf8"))).toEqual([edited, "mine\n"]);
  });

  it("what was changed before the command came to it is not known, and refused", async () => {
    const { file, galley, stage } = rig();
    await stage(() => writeFileSync(file, edited), "echo ready; read word; sed -i s/a/A/ file");
    for (const verb of ["apply", "rebase"]) {
      const refused = await galley(verb, "1");
      expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining("file")]);
    }
    expect(readFileSync(file, "utf8")).toBe(edited);
  });
});

describe.skipIf(noView !== undefined)("the same for", () => {
  /** The child bears a name that the command's own text and other test runs do not: it runs once the file is changed. */
  const waiting = `sed -i s/a/A/ file; sh -c 'until grep -q go word; do sleep 0.02; done' "waits-$((${process.pid} + 1))-"; echo end >> file`;
  const isWaiting = () =>
    readdirSync("/proc").some((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`waits-${process.pid + 1}-`);
      } catch {
        return false; // no process, or it has ended
      }
    });

  async function stagedBy(start: (host: RpcHost) => void, host: RpcHost): Promise<void> {
    onTestFinished(() => host.dispose());
    await host.waitForType("ready");
    const cwd = readlinkSync(`/proc/${host.child.pid}/cwd`);
    start(host);
    await host.until(isWaiting, "a command that waits");
    // A host that is answered twice: galley has read in between what the system told about the layer.
    for (const id of ["one", "two"]) {
      host.send({ id, type: "get_state" });
      await host.waitForResponse(id);
    }
    writeFileSync(join(cwd, "file"), edited);
    writeFileSync(join(cwd, "word"), "go\n"); // what the view has not touched it shows as it is
    const staged = await host.waitFor(({ type, status }) => type === "pending_action_changed" && status === "stale");
    expect(staged.files).toMatchObject([{ path: "file" }]);
    host.send({ id: "apply", type: "resolve_pending_action", pendingId: staged.id, action: "apply", reason: "test" });
    expect(await host.waitForResponse("apply")).toMatchObject({ success: false });
    expect(readFileSync(join(cwd, "file"), "utf8")).toBe(edited);
    host.send({ id: "rebase", type: "rebase_pending_action", pendingId: staged.id });
    expect(await host.waitForResponse("rebase")).toMatchObject({ success: true, data: { left: [] } });
  }
  const files = { file: text(original), word: "wait\n" };

  it.each([
    ["a host's command with stage", [], { stage: true }],
    ["a host's command where commands are staged", ["--access", "stage"], {}],
  ])("%s", async (_, args, more) => {
    const start = (host: RpcHost) => host.send({ id: "b", type: "bash", command: waiting, ...more });
    await stagedBy(start, new RpcHost({ args, files }));
  });

  it.each([
    ["the model's command with stage", [], { stage: true }],
    ["the model's command where commands are staged", ["--access", "stage"], {}],
  ])("%s", async (_, args, more) => {
    const server = await startScriptedServer([call("bash", { command: waiting, ...more }), openAi.text("Done.")]);
    onTestFinished(() => server.close());
    const start = (host: RpcHost) => host.send({ id: "p", type: "prompt", message: "go" });
    const host = new RpcHost({ args: ["--no-session", ...args], files, models: modelsAt(server.url) });
    await stagedBy(start, host);
    if (host.frames.every(({ type }) => type !== "agent_end")) await host.waitForType("agent_end");
  });
});
