import { describe, expect, it } from "vitest";
import type { ChangeOp } from "./change-set.js";
import { applyOnce } from "./faults/faults.test-kit.js";
import { hashOf } from "./faults/scene.test-kit.js";
import { SimDisk } from "./faults/sim-disk.test-kit.js";

const bytes = Buffer.from("new");

function create(name: string): ChangeOp {
  return { kind: "create", path: `/p/${name}`, shownPath: name, bytes };
}

function rename(name: string, to: string, text: string): ChangeOp {
  const seen = { path: `/p/${name}`, shownPath: name, beforeHash: hashOf(text) };
  return { kind: "rename", ...seen, to: `/p/${to}`, shownTo: to, bytes };
}

async function apply(disk: SimDisk, ops: ChangeOp[]): Promise<{ error: string; files: Record<string, string> }> {
  for (const directory of ["/p", "/agent/journal", "/agent/undo"]) disk.mkdirp(directory);
  const { error } = await applyOnce(disk, { kind: {}, before: new Map(), after: new Map(), ops });
  const files = [...disk.tree()].flatMap(([path, found]) =>
    path.startsWith("/p/") && !path.endsWith("/") ? [[path.slice(3), found.text]] : [],
  );
  return { error: error instanceof Error ? error.message : "", files: Object.fromEntries(files) };
}

describe("J-14: names that a directory takes for one", () => {
  it("are refused when two files would appear under them, and are nothing special elsewhere", async () => {
    const ops = ["d/Read.md", "d/other", "d/README.md"].map(create);
    expect(await apply(new SimDisk({ foldsCase: true }), ops.slice(0, 2))).toMatchObject({ error: "" });
    expect(await apply(new SimDisk({ foldsCase: true }), [create("d/Read.md"), create("d/READ.md")])).toEqual({
      error: "Apply failed: d/READ.md: here it is the same name as d/Read.md. Nothing was written.",
      files: {},
    });
    expect(await apply(new SimDisk(), [create("d/Read.md"), create("d/READ.md")])).toEqual({
      error: "",
      files: { "d/Read.md": "new", "d/READ.md": "new" },
    });
  });

  it("are refused also where their difference does not fit into a staged name", async () => {
    const long = "x".repeat(254);
    const { error, files } = await apply(new SimDisk({ foldsCase: true }), [create(`${long}a`), create(`${long}A`)]);
    const refused = `Apply failed: ${long}A: here it is the same name as ${long}a. Nothing was written.`;
    expect([error, files]).toEqual([refused, {}]);
  });

  it("can be exchanged for one another, with the bytes of the plan", async () => {
    for (const kind of [{ foldsCase: true }, {}, { foldsCase: true, hasNoLinks: true }]) {
      const disk = new SimDisk(kind);
      disk.write("/p/Read.md", "old", { mode: 0o751 });
      expect(await apply(disk, [rename("Read.md", "READ.md", "old")])).toEqual({
        error: "",
        files: { "READ.md": "new" },
      });
      expect(disk.at("/p/READ.md")?.mode).toBe(0o751);
    }
  });

  it("are two files where both are there, even if those are one", async () => {
    const disk = new SimDisk();
    disk.write("/p/a", "old");
    await disk.open().link("/p/a", "/p/A");
    expect(await apply(disk, [rename("a", "A", "old")])).toEqual({
      error: "1 of 2 files changed since the preview (A).",
      files: { a: "old", A: "old" },
    });
  });
});
