// What a real terminal (xterm's own code, without a window) shows after the bytes of the painter.

import { Terminal } from "@xterm/headless";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../test/kit/runs.js";
import { type PaintedBlock, Painter } from "./painter.js";

interface Block {
  key: object;
  lines: string[];
  isFinal: boolean;
}

class Rig {
  readonly painter = new Painter();
  readonly terminal: Terminal;
  bytes = "";
  blocks: Block[] = [];
  readonly bottom: Block = { key: {}, lines: ["────", "> ", "foot"], isFinal: false };

  constructor(columns = 40, rows = 10) {
    this.terminal = new Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true });
  }

  say(text: string): Promise<void> {
    return new Promise((resolve) => this.terminal.write(text, resolve));
  }

  async paint(): Promise<void> {
    const { cols: columns, rows } = this.terminal;
    const blocks: PaintedBlock[] = [...this.blocks, this.bottom];
    const { bytes, gone } = this.painter.paint({ blocks, columns, rows, cursor: { row: 1, column: 2 } });
    this.bytes += bytes;
    this.blocks = this.blocks.filter(({ key }) => !gone.includes(key));
    await this.say(bytes);
  }

  /** Scrollback and screen, without the empty rows at the end. */
  get everything(): string[] {
    const { active } = this.terminal.buffer;
    const lines = Array.from(
      { length: active.length },
      (_, row) => active.getLine(row)?.translateToString(true).trimEnd() ?? "",
    );
    while (lines.at(-1) === "") lines.pop();
    return lines;
  }
}

const numbered = (count: number, word = "line") => Array.from({ length: count }, (_, index) => `${word} ${index}`);

/** All of them, in this order, perhaps with others between. */
function expectInOrder(found: readonly string[], wanted: readonly string[]): void {
  let at = 0;
  for (const line of found) if (line === wanted[at]) at++;
  expect(wanted.slice(at)).toEqual([]);
}

describe("Painter", () => {
  test("draws below what the shell had printed, and keeps it", async () => {
    const rig = new Rig();
    await rig.say("$ ls\r\na b c\r\n$ galley\r\n");
    rig.blocks = [{ key: {}, lines: numbered(30), isFinal: true }];
    await rig.paint();
    expect(rig.everything).toEqual(["$ ls", "a b c", "$ galley", ...numbered(30), "────", ">", "foot"]);
    expect(rig.blocks.length).toBe(1); // its last lines are still on the screen
  });

  test("keeps what the shell printed when frames come before the news of a smaller window", async () => {
    const rig = new Rig(40, 24);
    await rig.say(numbered(40, "shell").join("\r\n").concat("\r\n"));
    rig.bottom.lines = ["────", "> ", "────", "foot", "figures 0"];
    rig.blocks = [{ key: {}, lines: numbered(2), isFinal: false }];
    await rig.paint();
    // The terminal drops the rows below the cursor at once; the program hears of it some frames later.
    rig.terminal.resize(40, 12);
    for (const frame of [1, 2, 3]) {
      rig.bottom.lines = [...rig.bottom.lines.slice(0, -1), `figures ${frame}`];
      const blocks = [...rig.blocks, rig.bottom];
      const { bytes } = rig.painter.paint({ blocks, columns: 40, rows: 24, cursor: { row: 1, column: 2 } });
      await rig.say(bytes);
    }
    await rig.paint();
    expectInOrder(rig.everything, [
      ...numbered(40, "shell"),
      ...numbered(2),
      ...rig.bottom.lines.map((line) => line.trimEnd()),
    ]);
  });

  test("writes only what changed", async () => {
    const rig = new Rig();
    rig.blocks = [{ key: {}, lines: numbered(3), isFinal: false }];
    await rig.paint();
    rig.bytes = "";
    await rig.paint();
    expect(rig.bytes).toBe("\u001b[3G"); // the cursor
    rig.blocks[0]?.lines.splice(1, 1, "other");
    await rig.paint();
    expect(rig.everything).toEqual(["line 0", "other", "line 2", "────", ">", "foot"]);
    expect(rig.bytes).not.toContain("line 0");
  });

  test("a block that ends in another form than it had when it scrolled out is shown again from there", async () => {
    const rig = new Rig();
    const block = { key: {}, lines: numbered(30, "narrow"), isFinal: false };
    rig.blocks = [block];
    await rig.paint();
    block.lines = [...numbered(5, "narrow"), ...numbered(25, "wide")];
    await rig.paint(); // only visible rows change
    expect(rig.everything.slice(0, 23)).toEqual(numbered(30, "narrow").slice(0, 23));
    block.isFinal = true;
    await rig.paint();
    expectInOrder(rig.everything, block.lines);
    expect(rig.everything.slice(-28, -3)).toEqual(numbered(25, "wide"));
  });

  test("forgets final blocks that have scrolled out", async () => {
    const rig = new Rig();
    for (let index = 0; index < 50; index++) {
      rig.blocks.push({ key: {}, lines: numbered(2, `block ${index}`), isFinal: true });
      await rig.paint();
      expect(rig.blocks.length).toBeLessThan(6);
    }
    expectInOrder(rig.everything, Array.from({ length: 50 }, (_, index) => numbered(2, `block ${index}`)).flat());
  });

  test.each([
    ["narrower and lower", 20, 6],
    ["wider and higher", 80, 24],
  ])("after a resize (%s) the visible rows are right and nothing is lost", async (_name, columns, rows) => {
    const rig = new Rig();
    await rig.say("$ galley\r\n");
    rig.blocks = [{ key: {}, lines: numbered(30), isFinal: true }];
    await rig.paint();
    rig.terminal.resize(columns, rows);
    rig.blocks = [{ key: {}, lines: numbered(30), isFinal: false }, ...rig.blocks.slice(1)];
    await rig.paint();
    expect(rig.everything.slice(-rows).slice(-6)).toEqual([...numbered(30).slice(-3), "────", ">", "foot"]);
    expectInOrder(rig.everything, ["$ galley", ...numbered(30)]);
  });

  test("leaves the conversation alone for another program, and only the editor comes back after it", async () => {
    const rig = new Rig();
    const growing: Block = { key: {}, lines: ["one", "two"], isFinal: false };
    rig.blocks = [{ key: {}, lines: numbered(12), isFinal: true }, growing];
    await rig.paint();
    const { bytes, gone } = rig.painter.leave();
    expect(gone).toHaveLength(1);
    rig.blocks = [growing];
    await rig.say(`${bytes}other program\r\n`);
    expect(rig.everything).toEqual([...numbered(12), "one", "two", "other program"]);
    growing.lines.push("three");
    growing.isFinal = true;
    await rig.paint();
    expect(rig.everything).toEqual([
      ...numbered(12),
      "one",
      "two",
      "other program",
      "three",
      ...rig.bottom.lines.map((line) => line.trimEnd()),
    ]);
  });

  test("whatever happens to blocks, all final lines are there in order, and no screen is cleared", async () => {
    const step = fc.record({
      lines: fc.integer({ min: 0, max: 14 }),
      kind: fc.constantFrom("add", "grow", "change", "end", "editor", "resize"),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const rig = new Rig(30, 8);
        await rig.say("$ galley\r\n");
        const all: Block[] = [];
        let serial = 0;
        for (const { kind, lines } of steps) {
          const live = all.at(-1);
          if (kind === "add" || !live) {
            if (live) live.isFinal = true;
            const block = { key: {}, lines: numbered(lines, `b${serial++}`), isFinal: false };
            all.push(block);
            rig.blocks.push(block);
          } else if (kind === "grow" && !live.isFinal) live.lines = [...live.lines, ...numbered(lines, `g${serial++}`)];
          else if (kind === "change" && !live.isFinal)
            live.lines = live.lines.map((line, index) => (index === lines ? `c${serial++}` : line));
          else if (kind === "end") live.isFinal = true;
          else if (kind === "resize") rig.terminal.resize(20 + lines, 5 + lines);
          else rig.bottom.lines = ["────", ...Array.from({ length: 1 + (lines % 4) }, () => "> "), "foot"];
          await rig.paint();
        }
        for (const block of all) block.isFinal = true;
        await rig.paint();
        expectInOrder(rig.everything, ["$ galley", ...all.flatMap(({ lines }) => lines)]);
        for (const clear of ["2J", "3J"]) expect(rig.bytes).not.toContain(`\u001b[${clear}`);
      }),
      { numRuns: runs(60) },
    );
  });
});
