import { CURSOR_MARKER } from "@earendil-works/pi-tui";
import { describe, expect, it } from "vitest";
import { cleanLine, cleanLines } from "./clean-lines.js";

describe("lines of modules", () => {
  it("keep colours and the cursor mark, and nothing else that a terminal obeys", () => {
    const coloured = `\u001b[1;38;2;1;2;3mred\u001b[0m${CURSOR_MARKER}x`;
    expect(cleanLine(coloured)).toBe(coloured);
    expect(cleanLine("a\u001b[2Jb\u001b]0;title\u0007c\u001b[10;1Hd\u0007e")).toBe("abcde");
    expect(cleanLine("\u001b_Gi=1;AAAA\u001b\\picture")).toBe("picture");
    expect(cleanLine("two\nlines\ttab")).toBe("two lines   tab");
  });

  it("are a list of strings", () => {
    expect(() => cleanLines(Promise.resolve([]))).toThrow("array of strings");
    expect(() => cleanLines([1])).toThrow("array of strings");
  });
});
