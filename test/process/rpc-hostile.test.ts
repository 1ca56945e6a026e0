// F-40: hostile lines, ten to one good command, into the real program. Every line gets exactly the answer it is owed,
// in order, and the program lives on. The long form is `npm run fault:rpc`.

import { beforeAll, expect, it } from "vitest";
import { runHostile } from "../kit/hostile-run.mjs";
import { ensureBuilt } from "../kit/rpc-host.js";

beforeAll(ensureBuilt, 150_000);

it("100,000 lines: every good command is answered once, in order, and nothing else is", async () => {
  const count = 100_000;
  const { frames, valid, answered, wrong, missing, problems, exitCode, stderr } = await runHostile({ seed: 1, count });
  expect(problems).toEqual([]);
  expect({ frames, valid, answered, wrong, missing }).toEqual({
    frames: count,
    valid: 9090,
    answered: 9090,
    wrong: 0,
    missing: 0,
  });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
}, 60_000);
