// The six steps of the tour, each done by the user and seen by the tour.

import { expect, it } from "vitest";
import { Tour, tourEnd } from "./tour.js";

it("goes on only when the user has done a step", () => {
  const tour = new Tour();
  const facts = { pending: 0, applied: 0, undone: 0, hasReviewed: false };
  expect(tour.line).toMatch(/^Step 1 of 6\. .*rename total to sum in src$/);
  expect(tour.advance({ ...facts, hasReviewed: true })).toBeUndefined();
  expect(tour.advance({ ...facts, pending: 1 })).toMatch(/^Step 2 of 6\./);
  expect(tour.advance({ ...facts, pending: 1 })).toBeUndefined();
  expect(tour.advance({ ...facts, pending: 1, hasReviewed: true })).toMatch(/^Step 3 of 6\./);
  expect(tour.advance({ ...facts, pending: 1, applied: 1 })).toMatch(/^Step 4 of 6\./);
  expect(tour.advance({ ...facts, pending: 1, applied: 1 })).toBeUndefined();
  expect(tour.advance({ ...facts, applied: 1 })).toMatch(/^Step 5 of 6\. .*press u/);
  expect(tour.advance({ ...facts, pending: 1, applied: 1 })).toMatch(/^Step 6 of 6\./);
  expect(tour.isOver).toBe(false);
  expect(tour.advance({ ...facts, undone: 1 })).toBe(tourEnd);
  expect(tour.isOver).toBe(true);
  expect(tour.advance({ ...facts, undone: 1 })).toBeUndefined();
});
