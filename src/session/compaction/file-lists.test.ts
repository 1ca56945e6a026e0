import { describe, expect, it } from "vitest";
import { calls, chain, type Draft, result } from "../../record/entries.test-kit.js";
import { collectFiles, maxListedFiles, withFileLists, withoutFileLists } from "./file-lists.js";

let ids = 0;
function done(
  name: string,
  args: Record<string, unknown>,
  changes: { details?: unknown; isError?: boolean } = {},
): Draft[] {
  const id = `c${ids++}`;
  return [calls({ id, name, args }), result(id, "ok", { toolName: name, ...changes })];
}

describe("collectFiles", () => {
  it("lists what was read and what was modified; read excludes modified", () => {
    const entries = chain(
      ...done("read", { path: "a.ts" }),
      ...done("read", { file_path: "b.ts" }),
      ...done("write", { path: "b.ts", content: "" }),
      ...done("edit", { edits: [{ path: "c.ts" }, { path: "d.ts" }] }),
      ...done("grep", { path: "e.ts" }),
    );
    expect(collectFiles(entries, undefined)).toEqual({ readFiles: ["a.ts"], modifiedFiles: ["b.ts", "c.ts", "d.ts"] });
  });

  it("counts a staged change when it was applied", () => {
    const applied = { applied: true, files: ["x.ts", "y.ts"] };
    const entries = chain(
      ...done("ast_edit", {}, { details: { applied: false, files: ["no.ts"] } }),
      ...done("resolve", { action: "apply" }, { details: { action: "apply", sourceResultDetails: applied } }),
      ...done("ast_edit", {}, { details: { applied: true, files: ["z.ts"] } }),
    );
    expect(collectFiles(entries, undefined).modifiedFiles).toEqual(["x.ts", "y.ts", "z.ts"]);
  });

  it("ignores what failed, and a call without its result", () => {
    const entries = chain(
      ...done("read", { path: "a.ts" }, { isError: true }),
      calls({ id: "open", name: "write", args: { path: "b.ts" } }),
    );
    expect(collectFiles(entries, undefined)).toEqual({ readFiles: [], modifiedFiles: [] });
  });

  it("carries on the earlier lists, newest last, and keeps the newest twenty", () => {
    const earlier = { readFiles: ["old.ts", "again.ts"], modifiedFiles: ["m.ts"], usage: {} };
    const entries = chain(...done("read", { path: "new.ts" }), ...done("read", { path: "old.ts" }));
    expect(collectFiles(entries, earlier)).toEqual({
      readFiles: ["again.ts", "new.ts", "old.ts"],
      modifiedFiles: ["m.ts"],
    });
    const many = chain(...Array.from({ length: 30 }, (_, index) => done("read", { path: `f${index}` })).flat());
    const { readFiles } = collectFiles(many, earlier);
    expect([readFiles.length, readFiles[0], readFiles.at(-1)]).toEqual([maxListedFiles, "f10", "f29"]);
  });

  it.each(["a\nb", "</read-files>", "", 7, null, "x".repeat(501)])("refuses the path %j", (path) => {
    const entries = chain(...done("read", { path }), ...done("edit", { path, edits: [null, { path }] }));
    expect(collectFiles(entries, { readFiles: [path], modifiedFiles: "none" })).toEqual({
      readFiles: [],
      modifiedFiles: [],
    });
  });
});

describe("withFileLists", () => {
  it("is what a summary ends with, and can be taken off again", () => {
    const text = withFileLists("", { readFiles: ["a", "b"], modifiedFiles: ["c"] });
    expect(text).toBe("<read-files>\na\nb\n</read-files>\n\n<modified-files>\nc\n</modified-files>");
    expect(withoutFileLists(`Goal.\n\n${text}`)).toBe("Goal.");
    expect(withoutFileLists("Goal: <read-files> stay here")).toBe("Goal: <read-files> stay here");
    expect(withFileLists("", { readFiles: [], modifiedFiles: ["c"] })).toBe("<modified-files>\nc\n</modified-files>");
    expect(withFileLists("", { readFiles: [], modifiedFiles: [] })).toBe("");
  });
});
