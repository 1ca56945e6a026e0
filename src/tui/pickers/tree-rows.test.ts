import { describe, expect, it } from "vitest";
import type { SessionEntry } from "../../protocol/entries.js";
import { type EntryTree, treeRows } from "./tree-rows.js";

/** `id parent role text`; the leaf is the entry that the path ends at. */
function tree(lines: readonly string[], leafId: string, labels: Record<string, string> = {}): EntryTree {
  const entries = lines.map((line) => {
    const [id = "", parent = "", role = "", ...words] = line.split(" ");
    const parentId = parent === "-" ? null : parent;
    if (role === "model") return { type: "model_change", id, parentId } as object as SessionEntry;
    const content = role === "user" ? words.join(" ") : [{ type: "text", text: words.join(" ") }];
    return { type: "message", id, parentId, message: { role, content } } as object as SessionEntry;
  });
  const get = (id: string | null) => entries.find((entry) => entry.id === id);
  return {
    leafId,
    labels: new Map(Object.entries(labels)),
    children: (id) => entries.filter(({ parentId }) => parentId === id),
    pathTo() {
      const path: SessionEntry[] = [];
      for (let entry = get(leafId); entry; entry = get(entry.parentId)) path.unshift(entry);
      return path;
    },
  };
}

const shown = (given: EntryTree, unfolded: string[] = []) =>
  treeRows(given, new Set(unfolded)).map(
    ({ depth, text, branch, isHere }) =>
      `${"  ".repeat(depth)}${branch ? (branch.isFolded ? "▸" : "▾") : ""}${text.trim()}${branch ? ` (${branch.messages})` : ""}${isHere ? " *" : ""}`,
  );

const lines = [
  "a - user first",
  "b a assistant one",
  "m b model",
  "c m user second",
  "d c assistant two",
  "e b user other",
  "f e assistant three",
];

describe("the tree", () => {
  it("shows the path, and other branches folded where they begin", () => {
    expect(shown(tree(lines, "f"))).toEqual(["› first", "one", "  ▸› second (2)", "› other", "three *"]);
    expect(shown(tree(lines, "d"))).toEqual(["› first", "one", "  ▸› other (2)", "› second", "two *"]);
  });

  it("unfolds a branch", () => {
    expect(shown(tree(lines, "f"), ["c"])).toEqual([
      "› first",
      "one",
      "  ▾› second (2)",
      "  two",
      "› other",
      "three *",
    ]);
  });

  it("shows branches from the beginning, and labels", () => {
    const given = tree(["a - user first", "z - user again"], "z", { a: "old" });
    expect(shown(given)).toEqual(["  ▸› first (1)", "› again *"]);
    expect(treeRows(given, new Set())[0]?.label).toBe("old");
  });

  it("shows everything when the leaf is before the first entry", () => {
    expect(shown({ ...tree(lines, "f"), leafId: null, pathTo: () => [] })).toEqual(["  ▸› first (6)"]);
  });

  it("stands a conversation of a hundred thousand messages", () => {
    const children = new Map<string | null, SessionEntry[]>();
    const path: SessionEntry[] = [];
    for (let index = 0; index < 100_000; index++) {
      const parentId = index === 0 ? null : `n${index - 1}`;
      const entry = { type: "message", id: `n${index}`, parentId, message: { role: "user", content: "x" } };
      children.set(parentId, [entry as object as SessionEntry]);
      path.push(entry as object as SessionEntry);
    }
    const deep: EntryTree = {
      leafId: "n99999",
      labels: new Map(),
      children: (id) => children.get(id) ?? [],
      pathTo: () => path,
    };
    expect(treeRows(deep, new Set())).toHaveLength(100_000);
  });
});
