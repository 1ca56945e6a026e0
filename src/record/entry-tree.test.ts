import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeFrame, parseRecord } from "../base/ndjson.js";
import type { SessionEntry } from "../protocol/entries.js";
import { type EntryNode, EntryTree, maxTreeDepth } from "./entry-tree.js";
import { entryLists, header, userEntry } from "./store/store.test-kit.js";

const place = (id: string, parentId: string | null, second = 0) => ({
  id,
  parentId,
  timestamp: `2026-01-05T08:00:${String(second).padStart(2, "0")}.000Z`,
});
const ids = (entries: readonly SessionEntry[]) => entries.map(({ id }) => id);
const countNodes = (nodes: readonly EntryNode[]): number =>
  nodes.reduce((sum, { children }) => sum + 1 + countNodes(children), 0);

describe("the leaf", () => {
  it("is each conversational entry in turn", () => {
    const tree = new EntryTree(header, [userEntry("a", null), { type: "custom", customType: "x", ...place("b", "a") }]);
    expect(tree.leafId).toBe("b");
  });

  it("is not moved by labels and names", () => {
    const tree = new EntryTree(header, [userEntry("a", null)]);
    tree.append({ type: "label", targetId: "a", label: "start", ...place("l", "a") });
    tree.append({ type: "session_info", name: "n", ...place("n", "a") });
    expect(tree.leafId).toBe("a");
  });

  it("goes where a leaf entry says, until something is appended after it", () => {
    const tree = new EntryTree(header, [userEntry("a", null), userEntry("b", "a")]);
    tree.append({ type: "leaf", targetId: "a", ...place("l", "a") });
    expect(tree.leafId).toBe("a");
    tree.append({ type: "label", targetId: "b", label: "x", ...place("m", "a") });
    expect(tree.leafId).toBe("a");
    tree.append(userEntry("c", "a"));
    expect(tree.leafId).toBe("c");
    tree.append({ type: "leaf", targetId: null, ...place("n", null) });
    expect(tree.leafId).toBeNull();
    expect(tree.pathTo()).toEqual([]);
  });

  it("stays when a leaf entry names what is not there", () => {
    const tree = new EntryTree(header, [userEntry("a", null)]);
    tree.append({ type: "leaf", targetId: "gone", ...place("l", null) });
    expect(tree.leafId).toBe("a");
  });

  it("is moved by hand only to an entry", () => {
    const tree = new EntryTree(header, [userEntry("a", null), userEntry("b", "a")]);
    tree.moveLeaf("a");
    expect(tree.leafId).toBe("a");
    expect(() => tree.moveLeaf("nope")).toThrow("Entry nope not found");
    tree.moveLeaf(null);
    expect(tree.leafId).toBeNull();
  });
});

describe("paths and children", () => {
  it("run from the root to an entry, also through entries in the margin", () => {
    // As another program writes it: there a label becomes the leaf.
    const label: SessionEntry = { type: "label", targetId: "a", label: "x", ...place("l", "a") };
    const tree = new EntryTree(header, [userEntry("a", null), label, userEntry("b", "l")]);
    expect(ids(tree.pathTo())).toEqual(["a", "l", "b"]);
    expect(ids(tree.pathTo("a"))).toEqual(["a"]);
    expect(tree.pathTo("nope")).toEqual([]);
  });

  it("end where a circle would begin", () => {
    const tree = new EntryTree(header, [userEntry("a", "b"), userEntry("b", "a")]);
    expect(ids(tree.pathTo())).toEqual(["a", "b"]);
  });

  it("answers children before and after the index is made", () => {
    const tree = new EntryTree(header, [userEntry("a", null), userEntry("b", "a")]);
    expect(ids(tree.children("a"))).toEqual(["b"]);
    tree.append(userEntry("c", "a"));
    expect(ids(tree.children("a"))).toEqual(["b", "c"]);
    expect(ids(tree.children(null))).toEqual(["a"]);
    expect(tree.children("c")).toEqual([]);
  });

  it("builds the whole tree: children by time, orphans as roots, labels on their targets", () => {
    const custom = (id: string, parentId: string | null, second: number): SessionEntry => ({
      type: "custom",
      customType: "x",
      ...place(id, parentId, second),
    });
    const label: SessionEntry = { type: "label", targetId: "b", label: "here", ...place("l", "a", 9) };
    const tree = new EntryTree(header, [custom("a", null, 0), custom("b", "a", 5), custom("c", "a", 2), label]);
    tree.append(custom("o", "lost", 7));
    const [a, o] = tree.tree();
    expect(a?.children.map((node) => node.entry.id)).toEqual(["c", "b", "l"]);
    expect(a?.children.map((node) => node.label)).toEqual([undefined, "here", undefined]);
    expect(o?.entry.id).toBe("o");
  });

  it("walks and builds a hundred thousand entries in a row", () => {
    const tree = new EntryTree(header);
    for (let index = 0; index < 100_000; index++)
      tree.append(userEntry(`${index}`, index === 0 ? null : `${index - 1}`));
    expect(tree.pathTo()).toHaveLength(100_000);
    const roots = tree.tree();
    expect(roots).toHaveLength(100_000 / maxTreeDepth);
    expect(roots.map(({ entry }) => entry.id)).toEqual(roots.map((_, index) => `${index * maxTreeDepth}`));
    expect(countNodes(roots)).toBe(100_000);
    // Readers and writers of JSON limit nesting.
    const frame = encodeFrame({ type: "response", data: { tree: roots.slice(0, 3) } });
    expect(parseRecord(Buffer.from(frame.trimEnd()))).toMatchObject({ ok: true });
  });

  it("goes on with another root where it would nest too deeply, in every branch", () => {
    const tree = new EntryTree(header, [userEntry("a", null), userEntry("b", "a"), userEntry("c", "b")]);
    for (const id of ["d", "e"]) tree.append(userEntry(id, "c"));
    tree.append(userEntry("f", "e"));
    const shape = (nodes: readonly EntryNode[]): unknown =>
      Object.fromEntries(nodes.map(({ entry, children }) => [`${entry.parentId}>${entry.id}`, shape(children)]));
    expect(shape(tree.tree(2))).toEqual({ "null>a": { "a>b": {} }, "b>c": { "c>d": {}, "c>e": {} }, "e>f": {} });
  });
});

it("refuses an id that is taken", () => {
  const tree = new EntryTree(header, [userEntry("a", null)]);
  expect(() => tree.append(userEntry("a", null))).toThrow("Entry a exists already");
  expect(tree.entries).toHaveLength(1);
});

it("tells what came after an entry", () => {
  const tree = new EntryTree(header, [userEntry("a", null), userEntry("b", "a"), userEntry("c", "b")]);
  expect(ids(tree.entriesSince("a"))).toEqual(["b", "c"]);
  expect(tree.entriesSince("c")).toEqual([]);
  expect(() => tree.entriesSince("nope")).toThrow("Entry nope not found");
});

it("lists user messages with a text in append order, and which are on the path", () => {
  const tree = new EntryTree(header, [
    userEntry("a", null, "one"),
    userEntry("b", "a", " two "),
    userEntry("c", "b", ""),
  ]);
  tree.append({ type: "leaf", targetId: "a", ...place("l", "a") });
  tree.append(userEntry("d", "a", "three"));
  expect(tree.userMessages()).toEqual([
    { entryId: "a", text: "one", onPath: true },
    { entryId: "b", text: " two ", onPath: false },
    { entryId: "d", text: "three", onPath: true },
  ]);
});

describe("names and labels", () => {
  const named = (name: string, source?: "auto" | "user"): SessionEntry => ({
    type: "session_info",
    name,
    ...(source ? { source } : {}),
    ...place(`n${name}${source}`, null),
  });

  it("begins with the header's title, and the last name wins", () => {
    const tree = new EntryTree({ ...header, title: "from the header" });
    expect(tree.name).toBe("from the header");
    tree.append(named("first", "auto"));
    tree.append(named("second", "auto"));
    expect(tree.name).toBe("second");
  });

  it("keeps a person's name against every automatic one", () => {
    const tree = new EntryTree({ ...header, title: "mine", titleSource: "user" });
    tree.append(named("auto", "auto"));
    expect(tree.name).toBe("mine");
    tree.append(named("other"));
    expect(tree).toMatchObject({ name: "other", nameSource: "user" });
    tree.append(named("auto again", "auto"));
    expect(tree.name).toBe("other");
  });

  it("forgets an emptied name and an emptied label", () => {
    const tree = new EntryTree(header, [userEntry("a", null), named("x")]);
    tree.append(named(" "));
    expect(tree.name).toBeUndefined();
    tree.append({ type: "label", targetId: "a", label: "x", ...place("l1", "a") });
    expect([...tree.labels]).toEqual([["a", "x"]]);
    tree.append({ type: "label", targetId: "a", ...place("l2", "a") });
    expect(tree.labels.size).toBe(0);
  });
});

it("does not move the leaf to an entry that comes later", () => {
  const early: SessionEntry = { type: "leaf", targetId: "l", ...place("early", "a") };
  const label: SessionEntry = { type: "label", targetId: "a", label: "x", ...place("l", "a") };
  const tree = new EntryTree(header, [userEntry("a", null), early, label]);
  expect(tree.leafId).toBe("a");
});

it("puts every entry where it was told to, whatever the order of appends and leaf moves", () => {
  fc.assert(
    fc.property(entryLists, (entries) => {
      const tree = new EntryTree(header, entries);
      expect(tree.entries).toEqual(entries);
      for (const entry of entries) {
        const path = tree.pathTo(entry.id);
        expect(path.at(-1)).toBe(entry);
        expect(path[0]?.parentId).toBeNull();
        for (const [index, step] of path.entries()) expect(step.parentId).toBe(path[index - 1]?.id ?? null);
        expect(tree.children(entry.parentId)).toContain(entry);
      }
    }),
  );
});
