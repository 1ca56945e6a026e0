import { describe, expect, it } from "vitest";
import { type StagedReport, stagedLines } from "./staged-text.js";

const nothing: Omit<StagedReport, "files"> = {
  notStaged: [],
  ...{ kept: { files: 0, bytes: 0 }, view: "overlay", network: "off" },
};
const last = "Network was off. Nothing outside the project could be written.";

describe("the report on a staged command", () => {
  it("lists deletions first, then the rest, with figures and targets", () => {
    const report: StagedReport = {
      ...nothing,
      pendingId: "pa_7",
      files: [
        { path: "old/two.txt", kind: "delete", removed: 1 },
        { path: "src/cart.ts", kind: "modify", added: 3, removed: 1 },
        { path: "src/money.ts", kind: "create", added: 20 },
        { path: "src/price.ts", kind: "create", type: "symlink", target: "money.ts" },
      ].reverse() as StagedReport["files"],
      notStaged: [{ path: "build.sock", why: "socket" }],
      kept: { files: 12, bytes: 1.1 * 1024 ** 2 },
    };
    expect(
      stagedLines({ ...report, files: report.files.toReversed() }).join("\n"),
    ).toBe(`Staged as pa_7 – not written yet: 4 files (1 modified, 2 created, 1 deleted)
  D old/two.txt  -1
  M src/cart.ts  +3 -1
  A src/money.ts  +20
  A src/price.ts -> money.ts
Not staged: build.sock (socket).
Kept in the view only: 12 ignored files (1.1 MiB).
${last}`);
    expect(stagedLines(report)[1]).toBe("  D old/two.txt  -1");
  });

  it("says that nothing changed, and what was dropped", () => {
    expect(stagedLines({ ...nothing, files: [] })).toEqual(["No files changed.", last]);
    expect(stagedLines({ ...nothing, files: [], dropped: "Too much.", network: "on" })).toEqual([
      "Too much.",
      "Network was on. Nothing outside the project could be written.",
    ]);
  });

  it("cuts a long list, and shows a renamed file, a directory, a protected path and the repository in one line each", () => {
    const many = Array.from({ length: 244 }, (_, index) => ({ path: `f${index}`, kind: "create" as const, added: 1 }));
    const lines = stagedLines({ ...nothing, pendingId: "pa_1", files: many });
    expect(lines).toHaveLength(33);
    expect(lines[31]).toBe("… and 214 more");
    const report: StagedReport = {
      ...{ ...nothing, pendingId: "pa_2", gitLine: "git: main 1a2b3c4 → 5d6e7f8, 14 objects, index" },
      files: [
        { path: "a.ts", kind: "delete", removed: 2 },
        { path: "b.ts", kind: "create", added: 2, renamedFrom: "a.ts" },
        { path: "empty", kind: "create", type: "directory" },
        { path: ".envrc", kind: "create", added: 1, protected: true },
      ],
    };
    expect(stagedLines(report).slice(1, -1)).toEqual([
      "  R a.ts -> b.ts  +2",
      "  A empty/",
      "  A .envrc  +1  (protected: the user applies it)",
      "  git: main 1a2b3c4 → 5d6e7f8, 14 objects, index",
    ]);
  });
});
