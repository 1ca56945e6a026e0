import { expect, it } from "vitest";
import { nearestName } from "./nearest-name.js";

const known = ["steeringMode", "todo.reminders", "todo.reminders.max", "topP"];

it.each([
  ["steringMode", "steeringMode"],
  ["STEERINGMODE", "steeringMode"],
  ["todo.reminders.maximum", "todo.reminders.max"],
  ["topp", "topP"],
  ["todo", undefined],
  ["x", undefined],
  ["", undefined],
])("nearest to %j is %j", (wanted, nearest) => expect(nearestName(wanted, known)).toBe(nearest));
