// Starts programs.

import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { pagerOf, printPaged } from "./pager.js";

function output(isTTY: boolean) {
  const written: string[] = [];
  return { written, stream: { isTTY, write: (text: string) => written.push(text) } as unknown as NodeJS.WriteStream };
}

describe("printPaged", () => {
  it.skipIf(process.platform === "win32")(
    "gives a terminal's text to the pager, and any other to the output",
    async () => {
      const kept = join(temporaryDirectory(), "shown");
      const env = { ...process.env, PAGER: `cat > '${kept}'` };
      const [terminal, pipe] = [output(true), output(false)];
      await printPaged("a long text\n", terminal.stream, env);
      expect([readFileSync(kept, "utf8"), terminal.written]).toEqual(["a long text\n", []]);
      await printPaged("another\n", pipe.stream, env);
      expect([readFileSync(kept, "utf8"), pipe.written]).toEqual(["a long text\n", ["another\n"]]);
    },
  );

  it.skipIf(process.platform === "win32")(
    "prints the text itself where the pager is not there, and bears one that reads nothing",
    async () => {
      const { written, stream } = output(true);
      await printPaged("text\n", stream, { ...process.env, PAGER: "no-such-pager-here 2>/dev/null" });
      expect(written).toEqual(["text\n"]);
      await printPaged("x".repeat(1 << 20), stream, { ...process.env, PAGER: "true" });
      expect(written).toHaveLength(1);
    },
  );

  it("is less -FRX by default, where there is less; none if the user wants none", () => {
    const directory = temporaryDirectory();
    expect(pagerOf({ PATH: directory })).toBeUndefined();
    writeFileSync(join(directory, "less"), "");
    chmodSync(join(directory, "less"), 0o755);
    expect(pagerOf({ PATH: `/nowhere:${directory}` })).toBe("less -FRX");
    expect(pagerOf({ PATH: directory, PAGER: "more" })).toBe("more");
    expect([pagerOf({ PATH: directory, PAGER: "" }), pagerOf({ PATH: directory, PAGER: "cat" })]).toEqual([
      undefined,
      undefined,
    ]);
  });
});
