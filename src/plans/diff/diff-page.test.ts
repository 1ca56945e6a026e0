import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/kit/runs.js";
import { type PlannedChange, stampOf } from "../plan.js";
import { splitPlan } from "../split-plan.js";
import { type DiffPosition, diffPage, type ShownFile } from "./diff-page.js";
import { diffOf } from "./plan-diff.js";

type Page = Awaited<ReturnType<typeof diffPage>>;
type Hunk = Page["files"][number]["hunks"][number];

function change(path: string, before: string | Buffer, after: string | Buffer): PlannedChange {
  const bytes = Buffer.from(before as string);
  const stamp = stampOf(path, { bytes, mode: 0o644 });
  return { kind: "modify", path: `/p/${path}`, stamp, before: bytes, after: Buffer.from(after as string) };
}

function shown(change: PlannedChange): ShownFile {
  const { kind, stamp, to } = change;
  return { path: stamp.path, kind, change, ...(to === undefined ? {} : { to }) };
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `${index + 1}\n`);

/** Every page to the last, with the hunks that were cut joined again. */
async function readAll(changes: readonly PlannedChange[], options: { context?: number; maxBytes?: number } = {}) {
  const files = changes.map(shown);
  const read: Page["files"] = [];
  let pages = 0;
  let from: DiffPosition | undefined;
  do {
    const page: Page = await diffPage(files, { ...options, ...(from ? { from } : {}) });
    pages++;
    for (const file of page.files) {
      const last = read.at(-1);
      if (last?.path !== file.path) {
        expect(file.hunks.some(({ continued }) => continued)).toBe(false);
        read.push({ ...file, hunks: [...file.hunks] });
        continue;
      }
      for (const { continued, ...hunk } of file.hunks) {
        const open = last.hunks.at(-1);
        expect(continued === true).toBe(open?.number === hunk.number);
        if (open && continued) {
          expect({ ...open, lines: [] }).toEqual({ ...hunk, lines: [] });
          last.hunks[last.hunks.length - 1] = { ...open, lines: [...open.lines, ...hunk.lines] };
        } else last.hunks.push(hunk);
      }
    }
    from = page.next;
  } while (from);
  return { files: read, pages };
}

function asText({ path, kind, hunks }: Page["files"][number]): string {
  const old = kind === "create" ? "/dev/null" : `a/${path}`;
  const fresh = kind === "delete" ? "/dev/null" : `b/${path}`;
  return `--- ${old}\n+++ ${fresh}\n${hunks.map(hunkText).join("")}`;
}

function hunkText({ oldStart, oldLines, newStart, newLines, lines }: Hunk): string {
  return `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@\n${lines.map((line) => `${line}\n`).join("")}`;
}

/** What a reader makes of the hunks, knowing only the old text. */
function patched(before: string, hunks: readonly Hunk[]): string {
  const old = before.match(/[^\n]*\n|[^\n]+/g) ?? [];
  let text = "";
  let position = 0;
  for (const { oldStart, oldLines, lines } of hunks) {
    const start = oldLines === 0 ? oldStart : oldStart - 1;
    expect(start).toBeGreaterThanOrEqual(position);
    text += old.slice(position, start).join("");
    let taken = 0;
    for (const [index, line] of lines.entries()) {
      if (line.startsWith("\\")) continue;
      const isOpen = lines[index + 1]?.startsWith("\\") ?? false;
      const content = `${line.slice(1)}${isOpen ? "" : "\n"}`;
      if (!line.startsWith("+")) expect(old[start + taken++]).toBe(content);
      if (!line.startsWith("-")) text += content;
    }
    expect(taken).toBe(oldLines);
    position = start + taken;
  }
  return text + old.slice(position).join("");
}

describe("a diff in pages", () => {
  it("is read to its last line, and is then exactly the diff", async () => {
    const changes = Array.from({ length: 5000 }, (_, file) => {
      const old = Array.from({ length: 40 }, (_, line) => `line ${line} of file ${file}\n`);
      const fresh = old.map((line, index) => (index % 8 === 3 ? `changed ${line}` : line));
      return change(`src/f${file}.ts`, old.join(""), fresh.join(""));
    });
    const { files, pages } = await readAll(changes);
    expect(pages).toBeGreaterThan(5);
    expect(files).toHaveLength(5000);
    expect(files.flatMap(({ hunks }) => hunks).flatMap(({ lines }) => lines).length).toBeGreaterThan(50_000);
    for (const [index, file] of files.entries())
      expect(asText(file)).toBe((await diffOf(changes[index] as PlannedChange)).diff(1_000_000));
  });

  it("compares each file once, however many pages there are", async () => {
    let reads = 0;
    const counting = (whole: PlannedChange): PlannedChange =>
      Object.defineProperty({ ...whole }, "before", {
        get() {
          reads++;
          return whole.before;
        },
      });
    const old = numbered(4000);
    const fresh = old.map((line, index) => (index % 2 ? line : `new ${line}`)).join("");
    const changes = ["a", "b", "c"].map((path) => counting(change(path, old.join(""), fresh)));
    const { pages } = await readAll(changes, { maxBytes: 512 });
    expect(pages).toBeGreaterThan(100);
    await readAll(changes);
    for (const whole of changes) await diffOf(whole);
    expect(reads).toBe(3);
  });

  it("is whole and numbered the same for any texts, any context and any size of page", async () => {
    const line = fc.constantFrom("a\n", "b\n", "c\r\n", "\n", "\u2028é\n", "d");
    const text = fc.array(line, { maxLength: 60 }).map((lines) => lines.join(""));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 0, max: 12 }),
        fc.integer({ min: 1, max: 600 }),
        async (texts, context, maxBytes) => {
          const changes = texts.map(([before, after], index) => change(`f${index}`, before, after));
          const usual = await readAll(changes);
          const { files } = await readAll(changes, { context, maxBytes });
          for (const [index, [before, after]] of texts.entries()) {
            expect(asText(usual.files[index] as never)).toBe((await diffOf(changes[index] as never)).diff(1e6));
            expect(patched(before, files[index]?.hunks ?? [])).toBe(after);
            expect(files[index]?.hunks.map(({ number }) => number)).toEqual(
              usual.files[index]?.hunks.map((_, at) => at + 1),
            );
          }
        },
      ),
      { numRuns: runs(300) },
    );
  });

  it("numbers hunks as they are decided, also where more context makes them touch", async () => {
    const old = numbered(30);
    const whole = change("a", old.join(""), old.with(4, "five\n").with(14, "fifteen\n").join(""));
    const { files } = await readAll([whole], { context: 100 });
    const [first, second] = files[0]?.hunks ?? [];
    expect([first?.number, first?.lines.at(-1), second?.number, second?.lines[0]]).toEqual([1, " 14", 2, "-15"]);
    const { chosen } = await splitPlan({ changes: [whole], applied: { text: "" } }, { hunks: { a: [2] } });
    expect(Buffer.from(chosen[0]?.after ?? []).toString()).toBe(patched(old.join(""), [second as Hunk]));
  });

  it("shows a missing last newline as unified diffs do", async () => {
    const { files } = await readAll([change("a", "one\ntwo", "one\ntwo\n")]);
    expect(files[0]?.hunks[0]).toEqual({
      number: 1,
      oldStart: 1,
      oldLines: 2,
      newStart: 1,
      newLines: 2,
      lines: [" one", "-two", "\\ No newline at end of file", "+two"],
    });
  });

  it("marks bytes that are not UTF-8, and shows no lines of a binary file", async () => {
    const latin = change("latin.txt", Buffer.from("caf\xe9\n", "latin1"), Buffer.from("th\xe9\n", "latin1"));
    const binary = change("logo.png", Buffer.from([1, 0, 2]), Buffer.from([1, 0, 3]));
    const { files } = await readAll([latin, binary]);
    expect(files).toEqual([
      expect.objectContaining({ path: "latin.txt", lossy: true }),
      { path: "logo.png", kind: "modify", binary: true, oldSize: 3, newSize: 3, hunks: [] },
    ]);
    expect(files[0]?.hunks[0]?.lines).toEqual(["-café", "+thé"]);
  });

  it("tells what kind of change it is, also without a hunk", async () => {
    const made: PlannedChange = { ...change("new", "", "x\n"), kind: "create", stamp: stampOf("new", undefined) };
    const moved: PlannedChange = { ...change("old", "x\n", "x\n"), kind: "rename", to: "/p/other" };
    const mode: PlannedChange = { ...change("run.sh", "x\n", "x\n"), mode: 0o755 };
    const { files } = await readAll([made, moved, mode]);
    expect(files).toEqual([
      {
        path: "new",
        kind: "create",
        hunks: [{ number: 1, oldStart: 0, oldLines: 0, newStart: 1, newLines: 1, lines: ["+x"] }],
      },
      { path: "old", kind: "rename", to: "/p/other", hunks: [] },
      { path: "run.sh", kind: "modify", oldMode: 0o644, newMode: 0o755, hunks: [] },
    ]);
  });

  it("keeps to chosen files, and goes on behind them", async () => {
    const files = ["a", "b", "c"].map((path) => shown(change(path, numbered(50).join(""), "")));
    const only = new Set(["a", "c"]);
    const read: string[] = [];
    let from: DiffPosition | undefined;
    do {
      const page: Page = await diffPage(files, { only, maxBytes: 200, ...(from ? { from } : {}) });
      read.push(...page.files.map(({ path }) => path));
      from = page.next;
    } while (from);
    expect([...new Set(read)]).toEqual(["a", "c"]);
  });

  it("holds at least one line, however long it is", async () => {
    const long = "x".repeat(2_000_000);
    const { files, pages } = await readAll([change("a", `${long}\n`, `${long}y\n`)]);
    expect(files[0]?.hunks[0]?.lines.map((line) => line.length)).toEqual([2_000_001, 2_000_002]);
    expect(pages).toBe(2);
  });
});
