// F-44: the ways out of the real program, a third of them: every phase and every ending is there. All of them, again
// and again at random moments, is what `npm run fault:rpc` does.

import { beforeAll, expect, it } from "vitest";
import { endings, phases, runExits } from "../../bench/kit-rpc/exits.mjs";
import { ensureBuilt } from "../kit/rpc-host.js";

beforeAll(ensureBuilt, 150_000);

it("every exit is in time, has its code, leaves no process, and the session opens", async () => {
  const place = (table: object, name: string) => Object.keys(table).indexOf(name);
  const only = (phase: string, ending: string) => (place(phases, phase) + place(endings, ending)) % 3 === 0;
  const { points, problems } = await runExits({ only, lanes: 4 });
  expect(problems).toEqual([]);
  expect(points).toBe((Object.keys(phases).length * Object.keys(endings).length) / 3);
}, 120_000);
