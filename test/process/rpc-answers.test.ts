// F-43: answers of a host out of order, twice, missing, late and of the wrong kind. The long form is `npm run
// fault:rpc`.

import { beforeAll, expect, it } from "vitest";
import { runAnswers } from "../../bench/kit-rpc/answers.mjs";
import { ensureBuilt } from "../kit/rpc-host.js";

const count = 10_000;
beforeAll(ensureBuilt, 150_000);

it("no answer of a host hangs anything, and no default is a yes", { timeout: 120_000 }, async () => {
  const { answers, dialogs, calls, rounds, elapsedMs, ...outcome } = await runAnswers({ seed: 1, count });
  expect(outcome).toEqual({ hangs: 0, wrong: 0, consents: 0, problems: [], exitCode: 0, stderr: "" });
  expect(answers).toBeGreaterThanOrEqual(count);
  expect(Math.min(dialogs, calls)).toBeGreaterThan(500);
});
