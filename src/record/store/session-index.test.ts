import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { displayName, SessionIndex } from "./session-index.js";
import { header, linesOf, userEntry } from "./store.test-kit.js";

function put(directory: string, name: string, content: string, second = 1): string {
  const path = join(directory, name);
  mkdirSync(directory, { recursive: true });
  writeFileSync(path, content);
  utimesSync(path, second, second);
  return path;
}

const session = (id: string, ...entries: object[]) => linesOf({ ...header, id }, ...entries);
const info = (name: string, source = "user") => ({
  type: "session_info",
  id: "i",
  parentId: null,
  timestamp: "t",
  name,
  source,
});
const reply = { type: "message", id: "r", parentId: "a", timestamp: "t", message: { role: "assistant", content: [] } };

describe("a list", () => {
  it("tells each session, newest first", async () => {
    const directory = temporaryDirectory();
    const path = put(directory, "one.jsonl", session("one", userEntry("a", null, " Fix the bug\n"), reply), 10);
    put(directory, "two.jsonl", linesOf({ ...header, id: "two", parentSession: "/p.jsonl", parentSessionId: "p" }), 20);
    const [two, one] = await new SessionIndex().list([directory]);
    expect(one).toEqual({
      path,
      id: "one",
      cwd: "/work",
      created: header.timestamp,
      modifiedMs: 10_000,
      messageCount: 2,
      isCountExact: true,
      firstMessage: "Fix the bug",
    });
    expect(two).toMatchObject({
      id: "two",
      parentSession: "/p.jsonl",
      parentSessionId: "p",
      messageCount: 0,
      firstMessage: "",
    });
  });

  it("passes over what is no session, and directories that are not there", async () => {
    const directory = temporaryDirectory();
    put(directory, "a.jsonl", session("a"));
    put(directory, "text.jsonl", "hello");
    put(directory, "empty.jsonl", "");
    put(directory, "other.txt", session("x"));
    put(directory, "a.jsonl.v1.bak", session("x"));
    put(directory, "a.jsonl.tmp", session("x"));
    mkdirSync(join(directory, "dir.jsonl"));
    symlinkSync(join(directory, "nowhere"), join(directory, "dangling.jsonl"));
    const found = await new SessionIndex().list([directory, join(directory, "absent")]);
    expect(found.map(({ id }) => id)).toEqual(["a"]);
  });

  it("does not wait for a pipe in the place of a file", async () => {
    const directory = temporaryDirectory();
    put(directory, "one.jsonl", session("one"));
    execFileSync("mkfifo", [join(directory, "pipe.jsonl")]);
    expect((await new SessionIndex().list([directory])).map(({ id }) => id)).toEqual(["one"]);
  });

  it("finds everything below a root", async () => {
    const root = temporaryDirectory();
    put(join(root, "-a"), "one.jsonl", session("one"), 3);
    put(join(root, "-b"), "two.jsonl", session("two"), 2);
    put(root, "three.jsonl", session("three"), 1);
    put(join(root, "-a", "one"), "deep.jsonl", session("artifact"));
    expect((await new SessionIndex().listAll([root])).map(({ id }) => id)).toEqual(["one", "two", "three"]);
  });

  it("names: the last one, a person's before an automatic one, else the header's title", async () => {
    const directory = temporaryDirectory();
    put(directory, "a.jsonl", session("a", info("first"), info("second")), 4);
    put(directory, "b.jsonl", session("b", info("mine"), info("theirs", "auto")), 3);
    put(
      directory,
      "c.jsonl",
      linesOf({ ...header, id: "c", title: "titled" }, userEntry("a", null, 'says "session_info"')),
      2,
    );
    put(directory, "d.jsonl", session("d"), 1);
    const names = (await new SessionIndex().list([directory])).map(({ name }) => name);
    expect(names).toEqual(["second", "mine", "titled", undefined]);
  });

  it("reads only the two ends of a long file", async () => {
    const directory = temporaryDirectory();
    const middle = Array.from({ length: 300 }, (_, index) => userEntry(`m${index}`, null, "x".repeat(2000)));
    put(directory, "a.jsonl", session("a", userEntry("a", null, "first"), ...middle, info("at the end")));
    const [found] = await new SessionIndex().list([directory]);
    expect(found).toMatchObject({ name: "at the end", firstMessage: "first", isCountExact: false });
    expect(found?.messageCount).toBeGreaterThan(40);
    expect(found?.messageCount).toBeLessThan(301);
  });

  it("finds the beginning of a first message of any length", async () => {
    const directory = temporaryDirectory();
    const long = `Look: "a\\b"\nü ${"x".repeat(300_000)}`;
    put(directory, "a.jsonl", session("a", userEntry("a", null, long)), 2);
    const plain = {
      type: "message",
      id: "p",
      parentId: null,
      timestamp: "t",
      message: { role: "user", content: long },
    };
    put(directory, "b.jsonl", session("b", plain), 1);
    for (const { firstMessage } of await new SessionIndex().list([directory]))
      expect(firstMessage.startsWith('Look: "a\\b"\nü xxx')).toBe(true);
  });

  it("reads a file again only when it has changed", async () => {
    const directory = temporaryDirectory();
    const index = new SessionIndex();
    put(directory, "a.jsonl", session("a", info("before")), 5);
    const [first] = await index.list([directory]);
    expect((await index.list([directory]))[0]).toBe(first);
    put(directory, "a.jsonl", session("a", info("after!")), 6);
    expect((await index.list([directory]))[0]?.name).toBe("after!");
  });

  it("takes a thousand sessions", async () => {
    const directory = temporaryDirectory();
    for (let number = 0; number < 1000; number++)
      put(directory, `${number}.jsonl`, session(`${number}`, userEntry("a", null, "x".repeat(500)), reply));
    expect(await new SessionIndex().list([directory])).toHaveLength(1000);
  });
});

describe("finding", () => {
  async function sessions() {
    const root = temporaryDirectory();
    const here = join(root, "-here");
    put(here, "2026_0197aa11.jsonl", session("0197aa11", info("alpha")));
    put(here, "2026_0197aa22.jsonl", session("0197aa22"));
    put(join(root, "-there"), "2026_0197bb.jsonl", linesOf({ ...header, id: "0197bb", cwd: "/other" }));
    const index = new SessionIndex();
    const list = await index.list([here]);
    return { find: (query: string) => index.find(query, list, () => index.listAll([root])) };
  }

  it("by id, by its beginning, by file name", async () => {
    const { find } = await sessions();
    for (const query of ["0197aa11", "0197aa1", "2026_0197aa11.jsonl", "2026_0197aa11"])
      expect(await find(query)).toMatchObject({ session: { id: "0197aa11" }, isElsewhere: false });
  });

  it("in other projects, and says so", async () => {
    const { find } = await sessions();
    expect(await find("0197b")).toMatchObject({ session: { id: "0197bb", cwd: "/other" }, isElsewhere: true });
  });

  it("not, or too often", async () => {
    const { find } = await sessions();
    await expect(find("nope")).rejects.toThrow('Session "nope" not found.');
    await expect(find("")).rejects.toThrow('Session "" not found.');
    await expect(find("0197aa")).rejects.toThrow(
      /^Session "0197aa" is ambiguous: 0197aa\d\d \((alpha|0197aa22)\), 0197aa\d\d \((alpha|0197aa22)\)$/,
    );
  });
});

it("a display name is a name, a first text or an id, in forty characters", async () => {
  const directory = temporaryDirectory();
  put(directory, "a.jsonl", session("id-only"));
  const [found] = await new SessionIndex().list([directory]);
  if (!found) throw new Error("no session");
  expect(displayName(found)).toBe("id-only");
  expect(displayName({ ...found, firstMessage: "two\n lines" })).toBe("two lines");
  expect(displayName({ ...found, name: "n".repeat(60) })).toBe(`${"n".repeat(39)}…`);
  expect(displayName({ ...found, name: `${"n".repeat(38)}${"🙂".repeat(9)}` })).toBe(`${"n".repeat(38)}…`);
});
