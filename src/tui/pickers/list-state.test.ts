import { describe, expect, it } from "vitest";
import { ListState } from "./list-state.js";

const rows = (...texts: string[]) => texts.map((text) => ({ value: text, text }));

describe("a list", () => {
  it("finds rows with every word of the filter", () => {
    const list = new ListState(rows("fix the tests", "fix docs", "rename tests"));
    list.setFilter("TEST fix");
    expect(list.found.map(({ text }) => text)).toEqual(["fix the tests"]);
    list.setFilter("nothing");
    expect([list.selected, list.total]).toEqual([undefined, 3]);
    list.move(1);
    expect(list.index).toBe(0);
  });

  it("selects the first that is called so, before one that only its detail matches", () => {
    const list = new ListState([
      { value: 1, text: "auto", detail: "by the terminal" },
      { value: 2, text: "mine" },
    ]);
    list.setFilter("mi");
    expect([list.found.length, list.selected?.value]).toEqual([2, 2]);
    list.setFilter("terminal");
    expect(list.selected?.value).toBe(1);
  });

  it("goes round by one, and stops at the ends by pages", () => {
    const list = new ListState(rows("a", "b", "c"), (value) => value === "b");
    expect(list.selected?.text).toBe("b");
    list.move(1);
    list.move(1);
    expect(list.selected?.text).toBe("a");
    list.move(10);
    expect(list.selected?.text).toBe("c");
    list.move(-10);
    expect(list.selected?.text).toBe("a");
  });

  it("shows a window that holds the selected row, of three thousand", () => {
    const list = new ListState(rows(...Array.from({ length: 3000 }, (_, index) => `s${index}`)));
    list.move(2990);
    const { from, rows: shown } = list.window(8);
    expect([from, shown.length, shown.includes(list.selected as never)]).toEqual([2986, 8, true]);
    list.move(100);
    expect(list.window(8).from).toBe(2992);
  });

  it("keeps its place when rows come and go", () => {
    const list = new ListState(rows("a", "b", "c"));
    list.move(1);
    list.replace(rows("x", "a", "b", "c"));
    expect(list.selected?.text).toBe("b");
    list.replace(rows("x"));
    expect(list.selected?.text).toBe("x");
  });
});
