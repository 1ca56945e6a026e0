import { expect, it } from "vitest";
import { parseGlob } from "./rule-scope.js";

it("refuses a glob that picomatch never finishes", async () => {
  await expect(parseGlob(`*${"\\".repeat(4)}`)).rejects.toThrow("has a glob that cannot be read");
  expect((await parseGlob("src/*.ts"))("src/a.ts")).toBe(true);
});
