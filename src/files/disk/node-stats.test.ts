import { type BigIntStats, lstatSync, Stats } from "node:fs";
import { expect, it } from "vitest";
import { exactStats, identityOf } from "./node-stats.js";

const big = (ino: bigint) => ({ dev: 1n, ino }) as BigIntStats;
const quick = (ino: number) => Object.assign(Object.create(Stats.prototype) as Stats, { dev: 1, ino });

it("calls a file the same in numbers and in big integers", () => {
  const exact = exactStats(lstatSync("."), () => expect.fail("asked again"));
  expect(identityOf(exact)).toBe(identityOf(lstatSync(".", { bigint: true })));
});

it("does not take two files for one where numbers are rounded", () => {
  const last = BigInt(Number.MAX_SAFE_INTEGER);
  const identities = [last, last + 1n, last + 2n].map((ino) =>
    identityOf(exactStats(quick(Number(ino)), () => big(ino))),
  );
  expect(identities).toEqual(["1:9007199254740991", "1:9007199254740992", "1:9007199254740993"]);
});
