import { chmodSync, readdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { silentLog } from "../../base/log.js";
import { createSandbox } from "./create-sandbox.js";
import { sandboxRig } from "./sandbox.test-kit.js";

describe("no mechanism", () => {
  test("without user namespaces the reason is told, and no box is made", async () => {
    const directory = temporaryDirectory();
    for (const name of ["bwrap", "unshare"]) {
      writeFileSync(join(directory, name), '#!/bin/sh\necho "unshare failed: Operation not permitted" >&2\nexit 1\n');
      chmodSync(join(directory, name), 0o755);
    }
    const notes: string[] = [];
    const log = { ...silentLog, trace: (_: string, text: string) => void notes.push(text) };
    const env = { HOME: directory, PATH: directory };
    const sandbox = createSandbox({ env, projectRoot: undefined, log, systemPath: directory });
    expect(await sandbox.probe()).toEqual({
      mechanism: "none",
      reason: "User namespaces are not allowed here (container or kernel setting).",
    });
    await expect(sandbox.box(sandboxRig("bubblewrap").rules)).rejects.toMatchObject({ code: "unsupported" });
    expect(notes[0]).toBe("The sandbox does not use bubblewrap: unshare failed: Operation not permitted.");
  });

  test("a bwrap that only runs the command is found out", async () => {
    const directory = temporaryDirectory();
    const script =
      '#!/bin/bash\nwhile [ "$1" != -- ]; do shift; done; shift; cat <&3 >/dev/null; exec 200</; exec "$@"\n';
    writeFileSync(join(directory, "bwrap"), script);
    chmodSync(join(directory, "bwrap"), 0o755);
    const notes: string[] = [];
    const log = { ...silentLog, trace: (_: string, text: string) => void notes.push(text) };
    const path = `${directory}${delimiter}${process.env.PATH}`;
    await createSandbox({ env: { ...process.env, PATH: path }, projectRoot: undefined, log }).probe();
    expect(notes[0]).toBe("The sandbox does not use bubblewrap: a confined command could write outside.");
  });

  test("a program in the project is not used", async () => {
    const project = temporaryDirectory();
    writeFileSync(join(project, "bwrap"), "#!/bin/sh\ntouch ran\n");
    chmodSync(join(project, "bwrap"), 0o755);
    const env = { ...process.env, PATH: `${project}${delimiter}${process.env.PATH}` };
    await createSandbox({ env, projectRoot: project, log: silentLog }).probe();
    expect(readdirSync(project)).toEqual(["bwrap"]);
  });

  test("Windows and others are told by name", async () => {
    const sandbox = createSandbox({ env: process.env, projectRoot: undefined, log: silentLog, platform: "freebsd" });
    expect(await sandbox.probe()).toEqual({ mechanism: "none", reason: "galley cannot confine commands on freebsd." });
  });
});
