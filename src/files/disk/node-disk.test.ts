import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it, onTestFinished } from "vitest";
import { nodeDisk } from "./node-disk.js";

it("sets a time to the microsecond", async () => {
  const directory = mkdtempSync(join(tmpdir(), "galley-disk-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, "a");
  const file = await nodeDisk.create(path, 0o600);
  onTestFinished(() => file.close());
  const times = fc.integer({ min: 0, max: 2_000_000_000_000_000 });
  await fc.assert(
    fc.asyncProperty(times, async (microseconds) => {
      await file.utimes(microseconds / 1000);
      const { mtimeNs } = statSync(path, { bigint: true });
      expect((mtimeNs + 500n) / 1000n).toBe(BigInt(microseconds));
    }),
    { numRuns: 300, examples: [[1_600_000_000_123_456]] },
  );
});
