// X-4 among others. The short form of `npm run fault:sandbox`: ways out of the sandbox, each shown to work without it, and daily work in it.
// As root both users are tried, and always both mechanisms.

import { describe, expect, test } from "vitest";
import { shortEscapes } from "../../../bench/kit-sandbox/escapes.mjs";
import { runBoxKills } from "../../../bench/kit-sandbox/kills.mjs";
import { obstacle, prepareWorker, ways } from "../../../bench/kit-sandbox/run-as.mjs";
import { runEscapes } from "../../../bench/kit-sandbox/run-escapes.mjs";
import { runWork } from "../../../bench/kit-sandbox/run-work.mjs";
import { shortWork } from "../../../bench/kit-sandbox/work.mjs";
import { isLong } from "../../../test/kit/runs.js";
import { openDirectory } from "../../../test/kit/temporary-directory.js";
import { noOrdinaryUser } from "../../../test/kit/two-users.js";

const prepared = await prepareWorker(openDirectory());

/** In short each user and each mechanism once. */
const chosen = ways().filter((_, index, { length }) => isLong || length < 4 || index === 0 || index === 3);
const tried = chosen.map((way) => ({
  ...way,
  reason: obstacle(way) ?? (way.user === "ordinary user" ? noOrdinaryUser : undefined),
}));

describe.each(tried)("$user, $mechanism", ({ reason, ...way }) => {
  const suffix = reason === undefined ? "" : ` (skipped: ${reason})`;

  test.skipIf(reason !== undefined)(
    `no escape succeeds, and each would without the sandbox${suffix}`,
    async () => {
      const result = await runEscapes(prepared, way, shortEscapes);
      expect(result).toMatchObject({ escaped: 0, otherMechanism: 0, problems: [], notShown: "none" });
      expect(result.shownWithout).toBeGreaterThan(20);
    },
    240_000,
  );

  test.skipIf(reason !== undefined)(
    `work goes on${suffix}`,
    async () => {
      const result = await runWork(prepared, way, shortWork);
      expect(result).toEqual({ tried: shortWork.length, failed: 0, mechanism: way.mechanism, problems: [] });
    },
    240_000,
  );
});

const [own] = ways();

describe.each(["bubblewrap", "namespaces"] as const)("kill -9 to galley, %s", (mechanism) => {
  const reason = own === undefined ? "no user" : obstacle({ ...own, mechanism });
  const suffix = reason === undefined ? "" : ` (skipped: ${reason})`;

  test.skipIf(reason !== undefined)(
    `leaves no process, and the next galley removes the stubs${suffix}`,
    async () => {
      const { kills, ...rest } = await runBoxKills(prepared, { mechanism, count: 4 });
      expect(rest).toEqual({ seenRunning: kills / 2, survivors: 0, stubsLeft: 0, problems: [] });
    },
    240_000,
  );
});
