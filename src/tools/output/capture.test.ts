import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/kit/runs.js";
import type { ArtifactSink } from "../tool.js";
import { type CapturedOutput, OutputCapture, type OutputCaptureOptions } from "./capture.js";
import { recordingSink } from "./output.test-kit.js";
import { notice } from "./text.js";

const small = { spillThresholdBytes: 100, tailBytes: 40, tailLines: 5 };

function capturing(options: Partial<OutputCaptureOptions> = {}) {
  const sink = recordingSink();
  const capture = new OutputCapture({ toolName: "bash", artifacts: sink, onFull: () => {}, ...options });
  return { sink, capture };
}

async function captureAll(chunks: readonly (string | Uint8Array)[], options: Partial<OutputCaptureOptions> = {}) {
  const { sink, capture } = capturing(options);
  for (const chunk of chunks) await capture.push(Buffer.from(chunk));
  return { sink, output: await capture.finish() };
}

const lines = (from: number, to: number, text = "line") =>
  Array.from({ length: to - from + 1 }, (_, index) => `${text} ${from + index}\n`).join("");

const shown = ({ text, remarks }: CapturedOutput) => text + notice(remarks);

describe("short output", () => {
  it("is given whole and kept nowhere else", async () => {
    const { sink, output } = await captureAll(["al", "pha\nbe", "ta\n"]);
    expect(output).toEqual({
      text: "alpha\nbeta\n",
      remarks: [],
      totalLines: 2,
      totalBytes: 11,
      outputLines: 2,
      outputBytes: 11,
    });
    expect(sink.artifacts).toEqual([]);
  });

  it.each([
    ["", 0],
    ["\n", 1],
    ["a", 1],
    ["a\n\nb", 3],
  ])("counts the lines of %j", async (text, totalLines) => {
    expect((await captureAll([text])).output).toMatchObject({ text, totalLines, outputLines: totalLines });
  });

  it("is stripped of what does things to terminals", async () => {
    const { output } = await captureAll(["\u001b[3", "1mred\u001b[0m\n10%\r", "100%\r\n\u001b]0;t", "itle\u0007end"]);
    expect(shown(output)).toBe("red\n100%\nend\n\n[Overwritten progress text is left out]");
    expect(output.truncation).toBeUndefined();
  });
});

describe("long output", () => {
  it("goes to an artifact and leaves its tail, with the notice", async () => {
    const text = lines(1, 6000, "number");
    const { sink, output } = await captureAll([text.slice(0, 30_000), text.slice(30_000)]);
    expect(output.text).toBe(lines(5501, 6000, "number"));
    expect(notice(output.remarks)).toBe(
      "\n\n[Showing lines 5501-6000 of 6000 (50KB limit). Read artifact://1 for full output]",
    );
    expect(output.truncation).toEqual({
      direction: "tail",
      truncatedBy: "bytes",
      totalLines: 6000,
      totalBytes: text.length,
      outputLines: 500,
      outputBytes: 6000,
      shownRange: { start: 5501, end: 6000 },
      artifactId: "1",
    });
    expect(sink.bytes("1").toString()).toBe(text);
    expect(sink.artifacts).toMatchObject([{ toolName: "bash", isClosed: true }]);
  });

  it("keeps 20 KB of long lines", async () => {
    const line = `${"x".repeat(1023)}\n`;
    const { output } = await captureAll([line.repeat(60)]);
    expect(output.text).toBe(line.repeat(20));
    expect(output.remarks[0]).toBe("Showing lines 41-60 of 60 (50KB limit)");
  });

  it("by lines alone keeps 3000 of them, and everything in an artifact", async () => {
    const { sink, output } = await captureAll([lines(1, 4000, "l")]);
    expect(output.text).toBe(lines(1001, 4000, "l"));
    expect(output.remarks).toEqual(["Showing lines 1001-4000 of 4000", "Read artifact://1 for full output"]);
    expect(output.truncation).toMatchObject({ truncatedBy: "lines", artifactId: "1" });
    expect(sink.bytes("1").toString()).toBe(lines(1, 4000, "l"));
  });

  it("of one line is cut between characters", async () => {
    const { output } = await captureAll(["é".repeat(40_000)]);
    expect(output.text).toBe("é".repeat(10_240));
    expect(output.remarks.slice(0, 2)).toEqual(["Showing lines 1-1 of 1 (50KB limit)", "Line 1 is cut"]);
  });

  it("counts what bytes that are no text take once they are shown", async () => {
    const bytes = Buffer.alloc(30_000, 0xff);
    const { sink, output } = await captureAll([bytes]);
    expect(output.outputBytes).toBeLessThanOrEqual(51_200);
    expect(output.text).toMatch(/^\ufffd+$/);
    expect(output.remarks).toContain("Read artifact://1 for full output");
    expect(sink.bytes("1").equals(bytes)).toBe(true);
  });

  it("that shrinks to little is shown whole", async () => {
    const progress = Array.from({ length: 8000 }, (_, step) => `${step} done\r`).join("");
    const { output } = await captureAll([`start\n${progress}`, "\nend\n"]);
    expect(output.text).toBe("start\n7999 done\nend\n");
    expect(output.remarks).toEqual(["Overwritten progress text is left out"]);
    expect(output.truncation).toBeUndefined();
    expect(output.artifactId).toBe("1");
  });

  it("obeys other settings, inline limits included", async () => {
    const settings = { spillThresholdBytes: 200_000, tailBytes: 1024 ** 2, tailLines: 1_000_000 };
    const text = lines(1, 5000, "a longer line, number");
    const below = await captureAll([text], { settings });
    expect(below.output.outputBytes).toBeLessThanOrEqual(51_200);
    expect(below.output.remarks[0]).toMatch(/\(50KB limit\)$/);
    expect(below.output.artifactId).toBe("1");
    const above = await captureAll([text, text], { settings });
    expect(above.output.outputBytes).toBeLessThanOrEqual(51_200);
    expect(above.output.remarks[0]).toMatch(/\(195\.3KB limit\)$/);
  });
});

describe("head and tail", () => {
  it("give the first or the last lines, without an artifact", async () => {
    const text = lines(1, 100);
    const head = await captureAll([text], { head: 3 });
    expect(shown(head.output)).toBe(`${lines(1, 3)}\n\n[Showing lines 1-3 of 100]`);
    expect(head.output.truncation).toMatchObject({ direction: "head", truncatedBy: "lines" });
    const tail = await captureAll([text], { tail: 2 });
    expect(shown(tail.output)).toBe(`${lines(99, 100)}\n\n[Showing lines 99-100 of 100]`);
    const both = await captureAll([text], { head: 10, tail: 2 });
    expect(shown(both.output)).toBe(`${lines(9, 10)}\n\n[Showing lines 9-10 of 100]`);
    for (const { sink } of [head, tail, both]) expect(sink.artifacts).toEqual([]);
  });

  it("say nothing where there is no more", async () => {
    expect(shown((await captureAll(["a\nb\n"], { head: 2 })).output)).toBe("a\nb\n");
    expect(shown((await captureAll(["a\nb\n"], { tail: 9 })).output)).toBe("a\nb\n");
    expect(shown((await captureAll([""], { head: 2, tail: 1 })).output)).toBe("");
  });

  it("of a long output come with an artifact", async () => {
    const text = lines(1, 50_000);
    const head = await captureAll([text.slice(0, 99_999), text.slice(99_999)], { head: 2 });
    expect(shown(head.output)).toBe(
      `${lines(1, 2)}\n\n[Showing lines 1-2 of 50000. Read artifact://1 for full output]`,
    );
    const tail = await captureAll([text], { tail: 2 });
    expect(shown(tail.output)).toBe(
      `${lines(49_999, 50_000)}\n\n[Showing lines 49999-50000 of 50000. Read artifact://1 for full output]`,
    );
    const many = await captureAll([text], { head: 1000 });
    expect(many.output.remarks[0]).toBe("Showing lines 1-500 of 50000 (50KB limit)");
    expect(many.output.text).toBe(lines(1, 500));
  });

  it("cut a line that is too long alone", async () => {
    const { output } = await captureAll(["日".repeat(30_000), "\nx"], { head: 1 });
    expect(output.text).toBe("日".repeat(6826));
    expect(output.remarks.slice(0, 2)).toEqual(["Showing lines 1-1 of 2 (50KB limit)", "Line 1 is cut"]);
  });
});

const anyText = fc.array(fc.constantFrom("a", "é", "日", "🙂", "\n", "\n\n", "word ", "0123456789"), { maxLength: 80 });
const anyCuts = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 60 });

function cutUp(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let from = 0;
  for (const cut of cuts) {
    chunks.push(bytes.subarray(from, from + cut));
    from += cut;
  }
  return [...chunks, bytes.subarray(from)];
}

describe("whatever the chunks", () => {
  it("shows the last lines that fit, and keeps every byte", async () => {
    await fc.assert(
      fc.asyncProperty(anyText, anyCuts, async (parts, cuts) => {
        const text = parts.join("");
        const bytes = Buffer.from(text);
        const { sink, output } = await captureAll(cutUp(bytes, cuts), { settings: small });
        const all = text.split(/(?<=\n)/);
        if (bytes.length <= small.spillThresholdBytes) {
          expect(output.text).toBe(text);
          return;
        }
        expect(sink.bytes(output.artifactId ?? "").equals(bytes)).toBe(true);
        let expected = "";
        for (const line of all.slice(-small.tailLines).reverse()) {
          if (Buffer.byteLength(line + expected) > small.tailBytes) break;
          expected = line + expected;
        }
        if (expected !== "") expect(output.text).toBe(expected);
        else expect(all.at(-1)?.endsWith(output.text)).toBe(true);
        expect(output.text).not.toContain("\ufffd");
        expect(output.outputBytes).toBe(Buffer.byteLength(output.text));
        expect(output.totalLines).toBe(all.length);
      }),
      { numRuns: runs(500) },
    );
  });

  it("gives the first lines of any bytes, and never more than asked", async () => {
    const bytes = fc.uint8Array({ maxLength: 400 });
    const request = fc.record({
      head: fc.integer({ min: 1, max: 8 }),
      tail: fc.option(fc.integer({ min: 1, max: 8 })),
    });
    await fc.assert(
      fc.asyncProperty(bytes, anyCuts, request, async (content, cuts, { head, tail }) => {
        const raw = Buffer.from(content);
        const options = { settings: small, head, tail: tail ?? undefined };
        const { sink, output } = await captureAll(cutUp(raw, cuts), options);
        expect(output.outputLines).toBeLessThanOrEqual(Math.min(head, tail ?? head));
        expect(output.text).not.toMatch(/[^\P{Cc}\n\t]/u);
        if (output.artifactId !== undefined) expect(sink.bytes(output.artifactId)).toEqual(raw);
        for (const artifact of sink.artifacts) expect(artifact.isClosed).toBe(true);
      }),
      { numRuns: runs(500) },
    );
  });
});

describe("while it runs", () => {
  it("shows the newest lines and never half a character", () => {
    const { capture } = capturing({ settings: { ...small, tailLines: 2 } });
    const bytes = Buffer.from("one\ntwo\nth日");
    for (let at = 0; at < bytes.length - 1; at++) void capture.push(bytes.subarray(at, at + 1));
    expect(capture.snapshot()).toMatchObject({ text: "two\nth", remarks: ["Showing lines 2-3 of 3"] });
    void capture.push(bytes.subarray(-1));
    expect(capture.snapshot().text).toBe("two\nth日");
  });

  it("holds the writer of the output while the artifact is written", async () => {
    let release = () => {};
    const open = new Promise<void>((resolve) => {
      release = resolve;
    });
    const artifacts: ArtifactSink = { open: async () => ({ id: "7", write: () => open, close: async () => {} }) };
    const { capture } = capturing({ artifacts, settings: small });
    expect(capture.push(Buffer.alloc(100, 0x61))).toBeUndefined();
    let isHeld = true;
    const written = capture.push(Buffer.from("b"))?.then(() => {
      isHeld = false;
    });
    await new Promise(setImmediate);
    expect(isHeld).toBe(true);
    release();
    await written;
    expect((await capture.finish()).artifactId).toBe("7");
  });
});

describe("a disk that fails", () => {
  const failing = (part: "open" | "write" | "close"): ArtifactSink => ({
    async open() {
      const fail = (name: string) => async () => {
        if (name === part) throw new Error("no space left on device");
      };
      await fail("open")();
      return { id: "1", write: fail("write"), close: fail("close") };
    },
  });

  it.each(["open", "write", "close"] as const)("on %s costs the artifact, not the result", async (part) => {
    const { output } = await captureAll([lines(1, 20), lines(21, 40)], { settings: small, artifacts: failing(part) });
    expect(output.text).toBe(lines(36, 40)); // of eight bytes each
    expect(output.remarks.at(-1)).toBe("The full output could not be kept: no space left on device");
    expect(output.artifactId).toBeUndefined();
    expect(output.truncation).not.toHaveProperty("artifactId");
  });
});

describe("endless output", () => {
  it("stops at the limit, to the byte, and says so once", async () => {
    let timesFull = 0;
    const { sink, capture } = capturing({ settings: small, maxBytes: 250, onFull: () => timesFull++ });
    await capture.push(Buffer.alloc(250, 0x61));
    expect([capture.isFull, timesFull]).toEqual([false, 0]);
    await capture.push(Buffer.from("bbb"));
    await capture.push(Buffer.from("ccc"));
    expect([capture.isFull, timesFull]).toEqual([true, 1]);
    const output = await capture.finish();
    expect(output.totalBytes).toBe(250);
    expect(sink.bytes("1").toString()).toBe("a".repeat(250));
  });

  it.each([
    ["zeros", Buffer.alloc(64 * 1024)],
    ["line feeds", Buffer.alloc(64 * 1024, 0x0a)],
  ])("of %s takes bounded memory and time", async (_name, chunk) => {
    const sink = recordingSink({ keepsBytes: false });
    let isFull = false;
    const capture = new OutputCapture({
      toolName: "bash",
      artifacts: sink,
      onFull: () => {
        isFull = true;
      },
    });
    const held = () => process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
    const before = held();
    let highest = 0;
    let pushed = 0;
    for (; pushed < 300 * 1024 ** 2 && !isFull; pushed += chunk.length) {
      await capture.push(chunk);
      if (pushed % (64 * 1024 ** 2) === 0) {
        capture.snapshot();
        highest = Math.max(highest, held());
      }
    }
    const output = await capture.finish();
    expect(sink.writtenBytes).toBe(256 * 1024 ** 2);
    expect(pushed).toBeLessThanOrEqual(256 * 1024 ** 2 + chunk.length);
    expect(output.outputBytes).toBeLessThanOrEqual(20 * 1024);
    expect(highest - before).toBeLessThan(32 * 1024 ** 2);
  });

  it("in single bytes costs no more than its length", async () => {
    const { capture } = capturing({ artifacts: recordingSink({ keepsBytes: false }) });
    const byte = Buffer.from("x");
    const before = process.cpuUsage(); // not the time of day: the machine may be busy
    for (let count = 0; count < 300_000; count++) void capture.push(byte);
    expect((await capture.finish()).totalBytes).toBe(300_000);
    expect(process.cpuUsage(before).user).toBeLessThan(3_000_000);
  });
});
