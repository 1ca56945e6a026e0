import { expect, it } from "vitest";
import type { StreamEvent, StreamRequest } from "../provider/provider.js";
import { type BudgetExceeded, withTurnBudget } from "./turn-budget.js";

const request = {} as StreamRequest;

async function* stream(): AsyncGenerator<StreamEvent> {
  yield { type: "start" };
}

async function eventsOf(events: AsyncIterable<StreamEvent>): Promise<StreamEvent[]> {
  const all: StreamEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

it("sends as many requests as it allows, and answers the others itself", async () => {
  const told: BudgetExceeded[] = [];
  const limited = withTurnBudget(stream, { maxTurns: 1 }, (exceeded) => told.push(exceeded));
  expect(await eventsOf(limited(request))).toEqual([{ type: "start" }]);
  expect(told).toEqual([]);
  expect(await eventsOf(limited(request))).toMatchObject([
    { type: "error", errorMessage: "Stopped: the limit of 1 turn is used up.", failure: { kind: "invalid_request" } },
  ]);
  expect(told).toEqual([{ kind: "turns", limit: 1, used: 1 }]);
});

it("without a limit it is the same function", () => {
  expect(withTurnBudget(stream, {}, undefined)).toBe(stream);
});
