import fc from "fast-check";
import { expect, it } from "vitest";
import { WrittenFiles } from "./written-files.js";

const names = ["a", "b", "c"];
const content = fc.option(fc.constantFrom("", "x\n", "x\ny\n", "z\n"), { nil: null });
const write = fc.record({ name: fc.constantFrom(...names), after: content, fails: fc.boolean() });

it("lists exactly the files that differ from before the first write, whatever happened in between", async () => {
  await fc.assert(
    fc.asyncProperty(fc.tuple(content, content, content), fc.array(write, { maxLength: 12 }), async (first, writes) => {
      const disk = new Map(names.map((name, index) => [name, first[index] ?? null]));
      const before = new Map(disk);
      const written = new WrittenFiles();
      for (const { name, after, fails } of writes) {
        const bytes = disk.get(name) ?? null;
        written.note([{ path: name, shownPath: name, bytes: bytes === null ? null : Buffer.from(bytes) }]);
        if (!fails) disk.set(name, after);
      }
      const listed = await written.list(async (path) => {
        const now = disk.get(path) ?? null;
        return now === null ? null : Buffer.from(now);
      });
      const expected = names.filter((name) => before.get(name) !== disk.get(name));
      expect(listed.map(({ path }) => path).sort()).toEqual(expected);
      for (const { path, kind, added = -1, removed = -1 } of listed) {
        const [old = null, now = null] = [before.get(path), disk.get(path)];
        expect(kind).toBe(old === null ? "create" : now === null ? "delete" : "modify");
        const lines = (text: string | null) => (text?.match(/\n/g) ?? []).length;
        expect(added - removed).toBe(lines(now) - lines(old));
      }
    }),
  );
});

it("has no figures for what it could not keep or read, and names it all the same", async () => {
  const written = new WrittenFiles();
  written.note([{ path: "big", shownPath: "big", bytes: new Uint8Array(65 * 1024 * 1024) }]);
  written.note([{ path: "hidden", shownPath: "hidden", bytes: Buffer.from("x") }]);
  const listed = await written.list(async (path) => (path === "big" ? Buffer.from("new") : undefined));
  expect(listed).toEqual([
    { path: "big", shownPath: "big", kind: "modify" },
    { path: "hidden", shownPath: "hidden", kind: "modify" },
  ]);
});
