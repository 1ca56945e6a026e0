import fc from "fast-check";
import { expect, it } from "vitest";
import { entryLists, header, linesOf, readText, userEntry } from "./store.test-kit.js";
import { leaveUnread } from "./unread-session.js";

const leave = (file: string | Uint8Array) => leaveUnread(Buffer.from(file as string), "x.jsonl");
const [a, b] = [userEntry("a", null), userEntry("b", "a")];
const sound = linesOf(header, a, b);

it("knows the header, and reads what reading gives", () => {
  const unread = leave(sound);
  expect(unread?.header).toEqual(header);
  expect(unread?.read()).toEqual({ ...readText(sound), isFit: true });
});

it.each([
  ["a torn end", `${sound}{"type":"mess`],
  ["an end without its LF", sound.slice(0, -1)],
  ["an older version", linesOf({ ...header, version: 2 }, a)],
  ["a newer one", linesOf({ ...header, version: 4 }, a)],
  ["an entry in the line of the header", sound.replace("\n", "")],
])("does not leave %s for later", (_, file) => {
  expect(leave(file)).toBeUndefined();
});

it("refuses what is no session", () => {
  expect(() => leave('{"type":"message"}\n')).toThrow("Not a session file: x.jsonl");
});

it("reads the same as ever, whatever is between the lines", () => {
  const rubbish = fc.constantFrom(
    ...'|\r|{}|nothing|{"type":"mess|é\u2028|\u0000|[]'.split("|"),
    JSON.stringify({ ...a, id: "a" }),
    JSON.stringify({ ...b, parentId: "gone" }),
    JSON.stringify({ type: "theirs", id: "t", parentId: "a", timestamp: "now" }),
    `${JSON.stringify(a)}${JSON.stringify(b)}`,
    JSON.stringify({ ...b, message: { role: "user", content: 1e300 } }),
  );
  const lines = fc.tuple(entryLists, fc.array(fc.tuple(fc.nat(40), rubbish), { maxLength: 3 }));
  fc.assert(
    fc.property(lines, fc.boolean(), ([entries, added], isLookedAt) => {
      const all = entries.map((entry) => JSON.stringify(entry));
      for (const [place, line] of added) all.splice(place % (all.length + 1), 0, line);
      const file = `${[JSON.stringify(header), ...all].join("\n")}\n`;
      const unread = leave(file);
      if (isLookedAt) unread?.messages();
      const { isFit: _, ...read } = unread?.read() ?? readText(file);
      expect(read).toEqual(readText(file));
    }),
    { numRuns: 300 },
  );
});
