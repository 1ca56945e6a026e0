// Writing under attack, in short: generated paths, links that are swapped meanwhile, files of every make. The long
// form is the same with larger counts, from bench/kit-workspace.

import { beforeAll, expect, it } from "vitest";
import { runFidelity } from "../../bench/kit-workspace/fidelity.mjs";
import { buildWorkspaceModule, runPaths, runSwaps } from "../../bench/kit-workspace/paths.mjs";
import { runs } from "../../test/kit/runs.js";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";

const directory = temporaryDirectory();
let module = "";

beforeAll(async () => {
  module = await buildWorkspaceModule(directory);
});

const [paths, rounds, files] = [runs(20_000), runs(1000), runs(300)];

it("F-12: of generated paths none escapes, and none is accepted or refused wrongly", async () => {
  const run = await runPaths({ module, directory, count: paths, seed: 1 });
  const { accepted, protectedPaths, problems, ...figures } = run;
  expect(problems).toEqual([]);
  expect(figures).toEqual({ paths, escapes: 0, falseAccepts: 0, falseRefusals: 0 });
  expect(accepted).toBeGreaterThan(paths / 20);
  expect(protectedPaths).toBeGreaterThan(paths / 20);
}, 120_000);

// Elsewhere than on Linux a window stays, and is documented.
it.runIf(process.platform === "linux")(
  "F-13: links swapped while a file is written lead nothing outside",
  async () => {
    const { written, refused, swaps, problems, ...figures } = await runSwaps({
      module,
      directory,
      rounds,
      seed: 1,
    });
    expect(problems).toEqual([]);
    expect(figures).toEqual({ rounds, outsideWrites: 0, leftOvers: 0, torn: 0 });
    expect(written + refused).toBe(rounds);
    expect(Math.min(written, swaps)).toBeGreaterThan(0);
  },
  120_000,
);

it("F-27: writing changes no byte, mode, owner or link that it should not", async () => {
  const largeBytes = 16 * 1024 * 1024;
  const { links, hardLinks, problems, ...figures } = await runFidelity({
    module,
    directory,
    count: files,
    seed: 1,
    largeBytes,
  });
  expect(problems).toEqual([]);
  expect(figures).toEqual({ files: files + 1, bytesChanged: 0, modesChanged: 0, linksBroken: 0, leftOvers: 0 });
  expect(Math.min(links, hardLinks)).toBeGreaterThan(files / 10);
}, 60_000);
