import { expect, it } from "vitest";
import { SeenFiles } from "./seen-files.js";

const whole = (text: string) => ({ bytes: Buffer.from(text), isTruncated: false });

it("knows a file that changed from one that did not or was never seen", async () => {
  const seen = new SeenFiles();
  seen.note("/a", whole("one"));
  expect(seen.hasChanged("/a", Buffer.from("one"))).toBe(false);
  expect(seen.hasChanged("/a", Buffer.from("two"))).toBe(true);
  expect(seen.hasChanged("/a", Buffer.from("one more"))).toBe(true);
  expect(seen.hasChanged("/b", Buffer.from("two"))).toBe(false);
  seen.note("/a", whole("two"));
  expect(seen.hasChanged("/a", Buffer.from("two"))).toBe(false);
});

it("follows a rewrite of what was known, and of nothing else", () => {
  const seen = new SeenFiles();
  const [one, two, three] = ["one", "two", "three"].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer];
  seen.note("/a", whole("one"));
  seen.noteRewrite("/a", two, three);
  expect(seen.hasChanged("/a", three)).toBe(true);
  seen.noteRewrite("/a", one, two);
  expect([seen.hasChanged("/a", two), seen.hasChanged("/a", one)]).toEqual([false, true]);
  seen.noteRewrite("/b", one, two);
  expect(seen.hasChanged("/b", three)).toBe(false);
});

it("compares as much of a file as was seen", async () => {
  const seen = new SeenFiles();
  seen.note("/a", { bytes: Buffer.from("head"), isTruncated: true });
  expect(seen.hasChanged("/a", Buffer.from("head and tail"))).toBe(false);
  expect(seen.hasChanged("/a", Buffer.from("Head and tail"))).toBe(true);
  expect(seen.hasChanged("/a", Buffer.from("hea"))).toBe(true);
});

it("forgets what was seen longest ago", async () => {
  const seen = new SeenFiles({ maxFiles: 2 });
  for (const path of ["/a", "/b", "/a", "/c"]) seen.note(path, whole("old"));
  const changed = await Promise.all(["/a", "/b", "/c"].map((path) => seen.hasChanged(path, Buffer.from("new"))));
  expect(changed).toEqual([true, false, true]);
});
