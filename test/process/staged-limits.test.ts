// A staged command that changes more than can be staged: nothing of it is left, and that is said, as a sentence and as
// figures, with an exit code that is not the program's.

import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ensureBuilt } from "../kit/rpc-host.js";
import { galleyBin, run } from "../kit/run-galley.js";
import { sandboxAbility } from "../kit/sandbox-rig.js";
import { temporaryDirectory } from "../kit/temporary-directory.js";

await ensureBuilt();
const { noView } = sandboxAbility();
if (noView !== undefined) it.skip(`skipped: commands cannot be staged here: ${noView}`, () => {});

describe.skipIf(noView !== undefined)("a staged command over stage.maxFiles", () => {
  const sentence =
    "The command changed 4 files (8 B), more than can be staged (3 files, 64 MiB). Its effects were dropped.";
  const exec = (...words: string[]) => {
    const home = temporaryDirectory();
    const cwd = join(home, "project");
    for (const directory of [cwd, join(home, "agent")]) mkdirSync(directory);
    writeFileSync(join(home, "agent/config.yml"), "stage:\n  maxFiles: 3\n");
    const env = { PATH: process.env.PATH, HOME: home, GALLEY_AGENT_DIR: join(home, "agent"), GALLEY_OFFLINE: "1" };
    const make = ["--", "sh", "-c", "for i in 1 2 3 4; do echo $i > n$i; done; echo made"];
    const outcome = run(process.execPath, [galleyBin, "exec", "--stage", ...words, ...make], { cwd, env });
    return outcome.then((told) => ({ ...told, left: readdirSync(cwd) }));
  };

  it("is told on stderr", async () => {
    expect(await exec()).toEqual({ code: 3, stdout: "made\n", stderr: `${sentence}\n`, left: [] });
  });

  it("is told as figures with --json, and on stderr", async () => {
    const { stdout, ...told } = await exec("--json");
    expect(told).toEqual({ code: 3, stderr: `galley: ${sentence}\n`, left: [] });
    const dropped = { files: 4, bytes: 8, limit: { files: 3, bytes: 64 * 2 ** 20 } };
    expect(JSON.parse(stdout)).toMatchObject({ exitCode: 0, stdout: "made\n", files: [], dropped });
  });
});
