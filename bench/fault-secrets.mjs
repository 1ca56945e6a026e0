// `npm run fault:secrets [-- ROUNDS [SEED]]`: the long form of test/process/secrets.test.ts. Secrets by every door, heard
// back by every path; prints the figures, and the exit code says whether none was found anywhere and every written file
// was exact. A place counts only where the decoy beside the secret shows that the secret would have been there.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createReport } from "./kit/fault-report.mjs";
import { doorNames, randomFrom } from "./kit-secrets/doors.mjs";
import { visit } from "./kit-secrets/visit.mjs";

const [rounds = 3, seed = 1] = process.argv.slice(2).map(Number);
const directory = mkdtempSync(join(tmpdir(), "galley-fault-"));
const random = randomFrom(seed);
const report = createReport();

try {
  for (const name of doorNames)
    await report.row(`secrets by ${name}`, { zeros: ["hits", "unreached", "inexact"] }, async () => {
      const total = { visits: 0, places: 0, hits: 0, unreached: 0, inexact: 0, problems: [] };
      for (let round = 0; round < rounds; round++) {
        const { places, hits, unreached, inexact, problems } = await visit(name, { directory, random });
        total.visits++;
        total.places += places;
        total.hits += hits;
        total.unreached += unreached;
        total.inexact += inexact;
        total.problems.push(...problems);
      }
      return total;
    });
} finally {
  rmSync(directory, { recursive: true, force: true });
}
process.exitCode = report.isClean ? 0 : 1;
