// Hostile repositories and small changes of trusted ones, in short. The long form is bench/fault-trust.mjs,
// `npm run fault:trust`.

import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { buildTrustModule, hasStrace, kindNames, runHostile, runMutations } from "../../../bench/kit-trust/faults.mjs";
import { runs } from "../../../test/kit/runs.js";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";

const directory = temporaryDirectory();

it("F-10, T-11: nothing of a hostile repository runs, and no program is started", async () => {
  const { repositories, visits, ...rest } = await runHostile({ directory, seed: 1, visitsEvery: 15 });
  expect(rest).toEqual({ executions: 0, hung: 0, silent: 0, caught: [], problems: [] });
  expect(kindNames.length).toBeGreaterThanOrEqual(40);
  expect(repositories).toBe(kindNames.length);
  expect(visits).toBeGreaterThan(kindNames.length);
}, 120_000);

it("F-11: every change of a trusted project makes it undecided", async () => {
  const module = await buildTrustModule(directory);
  const { mutations, byKind, ...rest } = await runMutations({ module, directory, count: runs(600), seed: 1 });
  expect(rest).toEqual({ unnoticed: 0, notRestored: 0, problems: [] });
  expect(mutations).toBe(runs(600));
  expect(Object.values(byKind).every((count) => count > runs(600) / 25)).toBe(true);
}, 120_000);

describe("a program that does what it must not", () => {
  const badDriver = fileURLToPath(new URL("../../../bench/kit-trust/bad-driver.mjs", import.meta.url));
  const run = (deed: string, kinds: string[], more: { canTrace?: boolean; patienceMs?: number } = {}) =>
    runHostile({ directory, seed: 1, kinds, visitsEvery: 99, program: [process.execPath, badDriver, deed], ...more });

  it.each([
    ["tools", ["tool-ts", "tool-imports", "claude-tool", "codex-tool"]],
    ["imports", ["tool-mjs", "tool-computed"]],
    ["commands", ["command-module"]],
    ["hooks", ["hook-program"]],
    ["probes", ["own-binaries"]],
    ["settings", ["settings-shell"]],
    ["servers", ["mcp-servers"]],
    ["packages", ["shadowing-packages"]],
  ])("is caught by the markers: %s", async (deed, kinds) => {
    const { caught, executions } = await run(deed, kinds);
    expect(caught).toEqual(kinds.sort());
    expect(executions).toBeGreaterThanOrEqual(kinds.length);
  });

  it.runIf(hasStrace).each([
    ["git", "git-config", /started .*git.*"status"/],
    ["probes", "own-binaries", /started .*rg.*"--version"/],
    ["attempts", "tool-js", /started .*no-such-program-of-ours/],
  ])(
    `is caught by the kernel's word: %s${hasStrace ? "" : " (skipped: strace is not installed)"}`,
    async (deed, kind, sentence) => {
      const { problems } = await run(deed, [kind]);
      expect(problems).toEqual(expect.arrayContaining([expect.stringMatching(sentence)]));
    },
  );

  it.runIf(process.platform === "linux")("is caught without strace when it takes a moment", async () => {
    const { problems } = await run("waits", ["tool-js"], { canTrace: false });
    expect(problems).toEqual([expect.stringMatching(/started .*"sleep"/)]);
  });

  it("is caught when it does not end, and when it says nothing", async () => {
    const { hung, silent, problems } = await run("hangs", ["tool-js"], { patienceMs: 500 });
    expect({ hung, silent, problems: problems.length }).toEqual({ hung: 1, silent: 1, problems: 2 });
  });
});
