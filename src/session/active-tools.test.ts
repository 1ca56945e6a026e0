import { expect, it } from "vitest";
import type { AnyTool } from "../tools/tool.js";
import { ActiveTools, namesOf } from "./active-tools.js";

it("a tool in the place of a hidden one goes without bringing that one to light", () => {
  const tool = (name: string, more: object = {}) => ({ name, ...more }) as AnyTool;
  const undo = tool("undo", { hidden: true });
  const tools = new ActiveTools([tool("read"), undo]);
  const theirs = tool("undo");
  tools.replace([], [{ tool: theirs }]);
  expect(namesOf(tools.active)).toEqual(["read", "undo"]);
  tools.replace([theirs], []);
  expect([namesOf(tools.all), namesOf(tools.active)]).toEqual([["read"], ["read"]]);
  expect(tools.offered(["undo"])).toEqual([...tools.active, undo]);
});
