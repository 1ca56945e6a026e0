// Secrets that come back by every path, in short. The long form is bench/fault-secrets.mjs, `npm run fault:secrets`.

import { beforeAll, describe, expect, it } from "vitest";
import { randomFrom } from "../../bench/kit-secrets/doors.mjs";
import { hasTrace, tracesOf } from "../../bench/kit-secrets/leaks.mjs";
import { ensureBuilt } from "../kit/rpc-host.js";
import { temporaryDirectory } from "../kit/temporary-directory.js";

beforeAll(ensureBuilt, 130_000);

it.each([
  ["!command", 7],
  ["a variable named like a password", 8],
])(
  "K-1, F-70: nothing that leaves a session holds a secret by %s, and written files are exact",
  async (door, seed) => {
    const { visit } = await import("../../bench/kit-secrets/visit.mjs"); // needs what is built
    const { places, ...rest } = await visit(door, { directory: temporaryDirectory(), random: randomFrom(seed) });
    expect(rest).toEqual({ hits: 0, unreached: 0, inexact: 0, problems: [] });
    expect(places).toBeGreaterThan(15);
  },
  120_000,
);

describe("the search for leaks", () => {
  const secret = "Zk3_9dQ-xW7pLm2vTb8RnYc4";
  it.each([
    ["the whole", secret],
    ["a part", secret.slice(5, 18)],
    ["an encoded one", Buffer.from(`u:${secret}`).toString("base64")],
    ["one in JSON", JSON.stringify({ secret })],
  ])("finds %s", (_name, text) => {
    expect(hasTrace(`before ${text} after`, tracesOf(secret))).toBeDefined();
  });

  it("finds nothing in other text", () => {
    expect(hasTrace("[secret:door] Zk3_9dQ-xW7", tracesOf(secret))).toBeUndefined();
  });
});
