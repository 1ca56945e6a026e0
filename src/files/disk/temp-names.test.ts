import { expect, it } from "vitest";
import { isTempName, newTransaction, stagedName } from "./temp-names.js";

const transaction = "0123456789abcdef0123456789abcdef";

it("names a file on its way so that it is known again", async () => {
  expect(stagedName("a.ts", transaction, 0)).toBe(`.a.ts.${transaction}-0.new`);
  expect(isTempName(stagedName("a.ts", await newTransaction(), 9999))).toBe(true);
  expect(isTempName(`.a\nb.${transaction}-3.old`)).toBe(true);
});

it.each(["a.ts", ".a.ts.new", `.a.${transaction}-0.newer`, `a.${transaction}-0.new`, `.a.${transaction}.new`])(
  "takes %j for somebody's file",
  (name) => {
    expect(isTempName(name)).toBe(false);
  },
);

it.each(["x".repeat(255), "é".repeat(127), "😀".repeat(63)])("fits into 255 bytes without half a character", (name) => {
  const staged = stagedName(name, transaction, 9999);
  expect(Buffer.byteLength(staged)).toBeLessThanOrEqual(255);
  expect(isTempName(staged)).toBe(true);
  expect(Buffer.from(staged).toString()).toBe(staged);
});
