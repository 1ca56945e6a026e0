import { expect, it } from "vitest";
import { stackOrder } from "./stack-order.js";

const action = (key: string, ...below: string[]) => ({ key, restsOn: below.map((each) => ({ key: each })) });
const order = (...actions: ReturnType<typeof action>[]) => stackOrder(actions).map(({ key }) => key);

it("puts what rests on another right below the uppermost of them, and leaves the others where they are", () => {
  expect(order(action("d", "a", "b"), action("c"), action("b", "a"), action("a"))).toEqual(["c", "a", "b", "d"]);
  expect(order(action("c", "a"), action("b", "a"), action("a"))).toEqual(["a", "c", "b"]);
  expect(order(action("b", "gone"), action("a"))).toEqual(["b", "a"]);
  expect(order()).toEqual([]);
});
