import { describe, expect, it } from "vitest";
import type { DiffFile } from "../protocol/diff.js";
import { typeNotes } from "./type-notes.js";

const notes = (file: Partial<DiffFile>) =>
  typeNotes({ path: "p", kind: "modify", hunks: [], ...file }, (text) => `<${text}>`);

describe("what the lines of a diff do not say", () => {
  it("is said in words", () => {
    expect(notes({})).toEqual([]);
    expect(notes({ kind: "create", type: "symlink", target: "to" })).toEqual(["A link to <to>"]);
    expect(notes({ kind: "delete", type: "symlink", oldTarget: "to" })).toEqual(["It was a link to <to>"]);
    expect(notes({ type: "symlink", oldTarget: "a", target: "b" })).toEqual(["A link to <a> becomes a link to <b>"]);
    expect(notes({ type: "symlink", oldType: "file", target: "b" })).toEqual(["A file becomes a link to <b>"]);
    expect(notes({ type: "file", oldType: "directory" })).toEqual(["A directory becomes a file"]);
    expect(notes({ kind: "create", type: "directory", newMode: 0o700 })).toEqual(["A directory", "Mode 0700"]);
    expect(notes({ type: "directory", oldMode: 0o755, newMode: 0o700 })).toEqual([
      "A directory",
      "Mode 0755 becomes 0700",
    ]);
    expect(notes({ kind: "delete", type: "directory" })).toEqual(["It was a directory"]);
    expect(notes({ renamedFrom: "old", protected: true })).toEqual([
      "The same bytes as <old>, which is deleted",
      "Protected: it decides what runs next, and is written only if you say so",
    ]);
  });
});
