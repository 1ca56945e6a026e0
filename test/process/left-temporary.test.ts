// What a killed galley leaves in the directory for temporary files is removed by the next one that confines a command;
// that of a running one stays. With the built program.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { ensureBuilt } from "../kit/rpc-host.js";
import { galleyBin, run } from "../kit/run-galley.js";
import { sandboxAbility } from "../kit/sandbox-rig.js";
import { temporaryDirectory } from "../kit/temporary-directory.js";

await ensureBuilt();
const { noSandbox } = sandboxAbility();
if (noSandbox !== undefined) it.skip(`skipped: commands cannot be confined here: ${noSandbox}`, () => {});

beforeAll(ensureBuilt, 150_000);

it.skipIf(noSandbox !== undefined)("removes what killed processes left, and nothing of running ones", async () => {
  const top = temporaryDirectory();
  const [home, cwd, temporary] = ["home", "project", "temporary"].map((name) => join(top, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [home, cwd, temporary]) mkdirSync(path);
  const env = { PATH: process.env.PATH, HOME: home, TMPDIR: temporary, GALLEY_OFFLINE: "1" };
  const start = async () => {
    const script = 'echo x > "$TMPDIR/kept"; echo begun; exec sleep 600';
    const child = spawn(process.execPath, [galleyBin, "exec", "--", "sh", "-c", script], { cwd, env });
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child.stdout, "data");
    return child;
  };
  const left = () => readdirSync(temporary).filter((name) => name.startsWith("galley-"));

  const [killed, running] = [await start(), await start()];
  expect(left()).toHaveLength(2);
  const ended = once(killed, "exit");
  killed.kill("SIGKILL");
  await ended;
  expect(left()).toHaveLength(2);
  expect(await run(process.execPath, [galleyBin, "exec", "--", "true"], { cwd, env })).toMatchObject({ code: 0 });
  const [name = "", ...others] = left();
  expect(others).toEqual([]);
  expect(name).toContain(`-${(running.pid ?? 0).toString(36)}-`);
  expect(readdirSync(join(temporary, name))).toEqual(["kept"]);
});
