// X-10. What other programs mount must not keep a command from its sandbox: where galley cannot look, where nothing leads, and
// at the moment of its start.

import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { prepareWorker, runTasks } from "../../../bench/kit-sandbox/run-as.mjs";
import { openDirectory, temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { noOrdinaryUser } from "../../../test/kit/two-users.js";
import { messageOf } from "../../base/errors.js";
import { boxWithPrograms, obstacleTo, sandboxRig } from "./sandbox.test-kit.js";

const obstacle = await obstacleTo("namespaces");

interface Surprise {
  /** Mounts that are made after galley has prepared the command. */
  readonly mounts: string;
  readonly line: string;
  readonly show?: readonly string[];
  /** Stands in for the program. */
  readonly mount?: string;
}

/** The namespaces of the command begin in others, where any user may mount. */
async function runAfter({ mounts, line, show = [], mount }: Surprise) {
  const { project, processes, rules } = sandboxRig("namespaces");
  const setpriv = `case $* in
  *unshare*) exec unshare --user --map-root-user --mount /bin/sh -c '${mounts} && exec "$@"' sh "$real" "$@" ;;
  *) exec "$real" "$@" ;;
esac`;
  let output = "";
  const { exitCode } = await processes.run({
    command: { shell: line },
    cwd: project,
    box: boxWithPrograms(
      { ...rules, show: [...rules.show, ...show] },
      mount === undefined ? { setpriv } : { setpriv, mount },
    ),
    mergesOutput: true,
    onOutput(chunk) {
      output += Buffer.from(chunk).toString("utf8");
      return undefined;
    },
  });
  return { output, exitCode };
}

const disk = (where: string) => `mkdir -p "${where}" && mount -t tmpfs tmpfs "${where}"`;
const refusal = { output: expect.stringMatching(/Read-only file system/) as string, exitCode: 1 };

describe.skipIf(obstacle !== undefined)(`mounts of others${obstacle ? ` (skipped: ${obstacle})` : ""}`, () => {
  test("a disk that is mounted while the command starts is read-only in it", async () => {
    const place = temporaryDirectory();
    const line = `echo x > '${place}/a b/new'`;
    expect(await runAfter({ mounts: disk(`${place}/a b`), line, show: [place] })).toEqual(refusal);
  });

  test("so is one that hides others, which do not matter", async () => {
    const place = temporaryDirectory();
    const mounts = [disk(`${place}/outer`), disk(`${place}/outer/inner`), disk(`${place}/outer`)].join(" && ");
    const line = `echo x > '${place}/outer/new'`;
    expect(await runAfter({ mounts, line, show: [place] })).toEqual(refusal);
  });

  test.each([true, false])(
    "one that is unmounted while the command starts is no reason not to run it; shown to it: %s",
    async (isShown) => {
      const place = temporaryDirectory();
      const mount = `for last; do :; done
case "$*" in *remount*'${place}/a b') umount "$last" ;; esac
exec "$real" "$@"`;
      const show = isShown ? [place] : [];
      const ran = await runAfter({ mounts: disk(`${place}/a b`), line: "echo ran", show, mount });
      expect(ran).toEqual({ output: "ran\n", exitCode: 0 });
    },
  );

  const shut = process.getuid?.() === 0 ? (noOrdinaryUser ?? cannotMount()) : "only root can shut another user out";
  test.skipIf(shut !== undefined)(
    `a disk that only another user can reach does not matter${shut ? ` (skipped: ${shut})` : ""}`,
    async () => {
      const prepared = await prepareWorker(openDirectory());
      const place = join(temporaryDirectory(), "disk");
      mount(place);
      onTestFinished(() => void execFileSync("umount", [place]));
      const way = { user: "ordinary user", mechanism: "namespaces" } as const;
      const { results } = await runTasks(prepared, way, [{ command: "echo ran", isBoxed: true }]);
      expect(results).toMatchObject([{ output: "ran\n", end: { exitCode: 0 } }]);
    },
  );
});

function mount(place: string): void {
  mkdirSync(place);
  execFileSync("mount", ["-t", "tmpfs", "tmpfs", place], { stdio: "pipe" });
}

function cannotMount(): string | undefined {
  const place = join(temporaryDirectory(), "disk");
  try {
    mount(place);
    execFileSync("umount", [place]);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
