// A model that edits, runs the tests, sees them fail, edits again and passes, in the staged view of the built program: the
// disk is untouched until the user applies, and then equals the view. Shell and file tools see each other.

import { execFileSync } from "node:child_process";
import { chmodSync, readdirSync, readFileSync, readlinkSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openAi } from "../../src/testing/index.js";
import { diskTree } from "../kit/disk-tree.js";
import { call, createPrintRig, type PrintRig } from "../kit/print-rig.js";
import { ensureBuilt } from "../kit/rpc-host.js";
import { sandboxAbility } from "../kit/sandbox-rig.js";

await ensureBuilt();
const { noView } = sandboxAbility();
if (noView !== undefined) it.skip(`skipped: commands cannot be staged here: ${noView}`, () => {});

beforeAll(ensureBuilt, 150_000);

let rig: PrintRig;
beforeEach(() => {
  rig = createPrintRig();
  rig.newProject();
});
afterEach(() => rig.remove());

/** Of a whole tree, by the system's own programs: inside the view and on the disk. */
const listing =
  "find . -mindepth 1 -printf '%P %y %m %l\\n' | LC_ALL=C sort; find . -type f | LC_ALL=C sort | xargs sha256sum";

const test = it.skipIf(noView !== undefined);
const toolTexts = (requests: unknown[]) =>
  (requests.at(-1) as { messages: { role: string; content: unknown }[] }).messages
    .filter(({ role }) => role === "tool")
    .map(({ content }) => (typeof content === "string" ? content : JSON.stringify(content)));

describe("a staged run", () => {
  test("edits, tests, edits again and passes, and nothing is written before it is applied", async () => {
    rig.write("sum.mjs", "export const sum = (a, b) => a - b;\n");
    rig.write(
      "test.mjs",
      `import { sum } from "./sum.mjs";\nif (sum(2, 3) !== 5) { console.error("sum(2, 3) is " + sum(2, 3)); process.exit(1); }\nconsole.log("passed");\n`,
    );
    rig.write("run.sh", "#!/bin/sh\nnode test.mjs\n");
    chmodSync(join(rig.cwd, "run.sh"), 0o644);
    symlinkSync("sum.mjs", join(rig.cwd, "old-link"));
    const before = diskTree(rig.cwd, { withTimes: true });
    const plain = diskTree(rig.cwd);
    const run = await rig.withModel(
      [
        call("edit", { path: "sum.mjs", old_text: "a - b", new_text: "a * b" }, "c1"),
        call("bash", { command: "node test.mjs" }, "c2"),
        call("edit", { path: "sum.mjs", old_text: "a * b", new_text: "a + b" }, "c3"),
        call(
          "bash",
          { command: "node test.mjs && echo done > result.txt && ln -s result.txt link && rm old-link" },
          "c4",
        ),
        call("bash", { command: "chmod 755 run.sh && mkdir empty && ./run.sh > log.txt; cat result.txt" }, "c5"),
        call("read", { path: "log.txt" }, "c6"),
        call("bash", { command: listing }, "c7"),
        openAi.text("It passes."),
      ],
      ["-p", "--stage", "mend it"],
    );
    expect({ code: run.code, stdout: run.stdout }).toEqual({ code: 0, stdout: "It passes.\n" });
    expect(run.stderr).toContain("Failed or refused:\n  bash node test.mjs: Command exited with code 1\n");
    const [, failed = "", , passed = "", third = "", log = "", view = ""] = toolTexts(run.requests);
    expect(failed).toContain("sum(2, 3) is 6");
    expect(failed).toContain("Command exited with code 1");
    expect(failed).toContain("No files changed.");
    expect(passed).toMatch(
      /^passed\n\nStaged as pa_\d+ – not written yet: 3 files \(2 created, 1 deleted\)\n {2}D old-link/,
    );
    expect(passed).toContain("  A link -> result.txt\n  A result.txt  +1\n");
    expect(passed).toMatch(/Network was off\. Nothing outside the project could be written\.$/);
    expect(third).toContain("done");
    expect(log).toContain("passed");
    expect(diskTree(rig.cwd, { withTimes: true })).toEqual(before);

    expect((await rig.galley(["apply", "--all"])).code).toBe(0);
    const applied = execFileSync("sh", ["-c", listing], { cwd: rig.cwd, encoding: "utf8" });
    expect(`${applied.trimEnd()}\n\nNo files changed.`).toBe(view); // byte for byte, types and permissions too
    expect(diskTree(rig.cwd).map((line) => line.split(" ").slice(0, 2).join(" "))).toEqual([
      "empty 755",
      "link 777",
      "log.txt 644",
      "result.txt 644",
      "run.sh 755",
      "sum.mjs 644",
      "test.mjs 644",
    ]);
    expect(readFileSync(join(rig.cwd, "sum.mjs"), "utf8")).toBe("export const sum = (a, b) => a + b;\n");
    expect(readFileSync(join(rig.cwd, "result.txt"), "utf8")).toBe("done\n");
    expect(readlinkSync(join(rig.cwd, "link"))).toBe("result.txt");
    const undone = await rig.galley(["undo", "--run", "--yes"]);
    expect({ code: undone.code, stderr: undone.stderr }).toEqual({ code: 0, stderr: "" });
    expect(diskTree(rig.cwd)).toEqual(plain);
  }, 90_000);

  test("stacks: what rests on another is not applied alone, and goes with it when that is discarded", async () => {
    rig.write("a.txt", "one\n");
    const staged = async (command: string) => {
      const { code, stdout } = await rig.galley(["exec", "--stage", "--json", "--", "sh", "-c", command]);
      expect(code).toBe(0);
      return JSON.parse(stdout) as { pendingId: string; stdout: string };
    };
    const lower = await staged("echo two >> a.txt; mkdir d; echo x > d/x");
    const upper = await staged("cat a.txt; echo three >> a.txt; echo y > d/y");
    expect(upper.stdout).toBe("one\ntwo\n");
    const alone = await rig.galley(["apply", upper.pendingId]);
    expect(alone.code).toBe(2);
    expect(alone.stderr + alone.stdout).toContain(lower.pendingId);
    expect(diskTree(rig.cwd)).toHaveLength(1);
    const discarded = await rig.galley(["discard", lower.pendingId, "--reason", "no"]);
    expect(discarded.code).toBe(0);
    expect((await rig.galley(["pending"])).stdout).toBe("Nothing pending.\n");
    expect(readFileSync(join(rig.cwd, "a.txt"), "utf8")).toBe("one\n");
    await staged("echo again >> a.txt");
    expect((await rig.galley(["apply", "--all"])).code).toBe(0);
    expect(readFileSync(join(rig.cwd, "a.txt"), "utf8")).toBe("one\nagain\n");
  }, 60_000);

  test("keeps ignored files in the view, for later commands and file tools, and never on the disk", async () => {
    rig.write(".gitignore", "node_modules/\n");
    const run = await rig.withModel(
      [
        call(
          "bash",
          { command: "mkdir -p node_modules/x && echo 'module.exports = 7' > node_modules/x/index.js" },
          "c1",
        ),
        call("bash", { command: "node -p 'require(\"x\")'" }, "c2"),
        call("read", { path: "node_modules/x/index.js" }, "c3"),
        call("edit", { path: "node_modules/x/index.js", old_text: "7", new_text: "8" }, "c4"),
        call("write", { path: "node_modules/x/index.js", content: "module.exports = 9\n" }, "c5"),
        call("bash", { command: "sed -i s/7/8/ node_modules/x/index.js" }, "c6"),
        call("read", { path: "node_modules/x/index.js" }, "c7"),
        openAi.text("Eight."),
      ],
      ["-p", "--stage", "install it"],
    );
    expect(run.code).toBe(0);
    const [made = "", used = "", read = "", edited = "", written = "", changed = "", readAgain = ""] = toolTexts(
      run.requests,
    );
    expect(made).toMatch(/No files changed\.\nKept in the view only: 1 ignored file \(\d+ B\)\./);
    expect(used).toContain("7");
    expect(read).toContain("module.exports = 7");
    for (const text of [edited, written])
      expect(text).toContain(
        "Cannot change node_modules/x/index.js: git ignores it, so it is in the staged view only and is not applied. Change it with bash.",
      );
    expect(changed).toMatch(/No files changed\.\nKept in the view only: 1 ignored file/);
    expect(readAgain).toContain("module.exports = 8");
    expect(readdirSync(rig.cwd)).toEqual([".gitignore"]);
    expect((await rig.galley(["pending"])).stdout).toBe("Nothing pending.\n");
  }, 60_000);

  test("a directory that only a pending action makes, and a later one takes away, is not stale", async () => {
    const exec = (command: string) => rig.galley(["exec", "--stage", "--", "sh", "-c", command]);
    await exec("mkdir made; echo x > made/file");
    await exec("mv made moved");
    const listed = (await rig.galley(["pending"])).stdout;
    expect(listed).toMatch(/pa_2 +pending .*pa_1 +pending /s);
    expect((await rig.galley(["apply", "--all"])).code).toBe(0);
    expect(diskTree(rig.cwd).map((line) => line.split(" ")[0])).toEqual(["moved", "moved/file"]);
  }, 60_000);

  test("keeps ignored files for the next process of a session with something pending, and no longer", async () => {
    rig.write(".gitignore", "build/\n");
    const exec = (command: string) => rig.galley(["exec", "--stage", "--", "sh", "-c", command]);
    expect((await exec("mkdir build; echo made > build/out; echo x > new.txt")).stderr).toContain("1 ignored file");
    expect(await exec("cat build/out")).toMatchObject({ code: 0, stdout: "made\n" });
    expect((await rig.galley(["discard", "--all", "--reason", "no"])).code).toBe(0);
    expect((await exec("cat build/out")).code).toBe(1);
    expect(readdirSync(rig.cwd)).toEqual([".gitignore"]);
  }, 60_000);
});
