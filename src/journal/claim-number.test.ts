import { spawn } from "node:child_process";
import { chmodSync, existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildSync } from "esbuild";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { claimNumber } from "./claim-number.js";

describe("claimNumber", () => {
  it("counts up from 1, and goes on above the number that the caller names", () => {
    const directory = join(temporaryDirectory(), "undo/ids");
    expect([0, 0, 1, 7, 3, 0].map((above) => claimNumber(directory, above))).toEqual([1, 2, 3, 8, 9, 10]);
  });

  it("E-1: gives eight processes that race for fifty numbers each four hundred different ones, and leaves few files", async () => {
    const place = temporaryDirectory();
    const directory = join(place, "ids");
    const program = join(place, "claim.mjs");
    buildSync({
      stdin: {
        contents: `import { claimNumber } from "./claim-number.js";
          const all = [];
          for (let index = 0; index < 50; index++) all.push(claimNumber(process.argv[2], all.at(-1) ?? 0));
          process.stdout.write(JSON.stringify(all));`,
        resolveDir: import.meta.dirname,
      },
      outfile: program,
      bundle: true,
      platform: "node",
      format: "esm",
    });
    const runs = Array.from({ length: 8 }, () => outputOf([program, directory]));
    const numbers = (await Promise.all(runs)).flatMap((text) => JSON.parse(text) as number[]);
    expect(numbers).toHaveLength(400);
    expect(new Set(numbers).size).toBe(400);
    expect(readdirSync(directory).length).toBeLessThanOrEqual(66);
    expect(claimNumber(directory, 0)).toBe(Math.max(...numbers) + 1);
  });

  it("does not give out again an old number whose claim was removed", () => {
    const directory = join(temporaryDirectory(), "ids");
    for (let count = 0; count < 100; count++) claimNumber(directory, 0);
    expect(existsSync(join(directory, "1"))).toBe(false);
    // As a process sees it that read the directory before the other claims, and creates its file after them.
    writeFileSync(join(directory, "2"), "");
    expect(claimNumber(directory, 0)).toBe(101);
    expect(existsSync(join(directory, "2"))).toBe(false);
  });

  it.skipIf(process.getuid?.() === 0)("throws where nothing can be written (skipped as root, who may)", () => {
    const place = temporaryDirectory();
    chmodSync(place, 0o500);
    expect(() => claimNumber(join(place, "ids"), 0)).toThrow(/EACCES/);
  });
});

function outputOf(args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    child.on("error", reject);
    child.on("close", () => resolve(text));
  });
}
