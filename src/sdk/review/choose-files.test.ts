import { describe, expect, it } from "vitest";
import { chooseFiles, chooseHunks } from "./choose-files.js";

// Staged in /p/app: the session names its files from there.
const files = ["/p/app/a.ts", "/p/app/deep/b.ts", "/p/a.ts", "/p/lib/[x].ts", "/else/e.ts"].map((path) => ({
  path,
  shown: path.replace(/^\/p\//, ""),
  staged: path.replace(/^\/p\/app\//, ""),
}));
const action = { name: "pa_1", files };

describe("chooseFiles", () => {
  it.each([
    ["/p/app", "a.ts", ["app/a.ts"]],
    ["/p", "a.ts", ["a.ts"]],
    ["/p/lib", "a.ts", ["a.ts"]],
    ["/p/lib", "../app/a.ts", ["app/a.ts"]],
    ["/p/lib", "app", ["app/a.ts", "app/deep/b.ts"]],
    ["/p/app", ".", ["app/a.ts", "app/deep/b.ts"]],
    ["/p/lib", "deep/b.ts", ["app/deep/b.ts"]],
    ["/p/app", "*.ts", ["app/a.ts", "app/deep/b.ts"]],
    ["/p", "app/*.ts", ["app/a.ts"]],
    ["/p/lib", "app/**/*.ts", ["app/a.ts", "app/deep/b.ts"]],
    ["/p/lib", "[x].ts", ["lib/[x].ts"]],
    ["/p", "/else/e.ts", ["/else/e.ts"]],
  ])("in %s, %s means %j", async (cwd, given, expected) => {
    const chosen = await chooseFiles(action, [given], { cwd, root: "/p" });
    expect(chosen.map(({ shown }) => shown)).toEqual(expected);
  });

  it("refuses a name that fits none, and tells which there are", async () => {
    await expect(chooseFiles(action, ["app", "gone.ts"], { cwd: "/p", root: "/p" })).rejects.toThrow(
      'No file of pa_1 is meant by "gone.ts". It has: app/a.ts, app/deep/b.ts, a.ts, lib/[x].ts, /else/e.ts.',
    );
  });

  it("takes hunks of one file only, by the name that the session knows", async () => {
    const from = { cwd: "/p", root: "/p" };
    const given = [
      { path: "app/a.ts", hunks: [1] },
      { path: "app/a.ts", hunks: [3] },
    ];
    expect(await chooseHunks(action, given, from)).toEqual({ "a.ts": [1, 3] });
    await expect(chooseHunks(action, [{ path: "app", hunks: [1] }], from)).rejects.toThrow("means several");
    await expect(chooseHunks(action, [{ path: "gone", hunks: [1] }], from)).rejects.toThrow("No file of pa_1");
  });
});
