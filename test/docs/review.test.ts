// What docs/review.md shows is what happens: its console blocks are run, one after the other.

import { cpSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureBuilt } from "../kit/rpc-host.js";
import { emptyHome, galleyBin, projectRoot, run } from "../kit/run-galley.js";

beforeAll(ensureBuilt, 150_000);

const text = readFileSync(join(projectRoot, "docs/review.md"), "utf8");
const { home, env, remove } = emptyHome();
afterAll(remove);

/** Each change has an id of its own. */
const withoutIds = (output: string) => output.replace(/ch_[0-9a-f]{8}/g, "ch_1a2b3c4d");

describe("docs/review.md", () => {
  const project = join(home, "project");
  mkdirSync(join(project, ".git"), { recursive: true });
  cpSync(join(projectRoot, "examples"), join(project, "examples"), { recursive: true });
  mkdirSync(join(home, "bin"));
  symlinkSync(galleyBin, join(home, "bin/galley"));
  const shell = { ...env, PATH: `${join(home, "bin")}:${env.PATH}`, LANG: "C.UTF-8" };

  const blocks = [...text.matchAll(/```console\n\$ ([^\n]*)\n(.*?)```/gs)];
  it.each(blocks.map(([, command = "", output = ""]) => ({ command, output })))(
    "$command",
    async ({ command, output }) => {
      const outcome = await run("/bin/sh", ["-c", `{ ${command}; } 2>&1`], { env: shell, cwd: project });
      expect({ ...outcome, stdout: withoutIds(outcome.stdout) }).toEqual({ code: 0, stdout: output, stderr: "" });
    },
  );

  it("has examples", () => {
    expect(blocks.length).toBeGreaterThan(5);
  });
});
