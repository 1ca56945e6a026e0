import { describe, expect, it } from "vitest";
import { findAction, findChange, nameOf } from "./find-by-id.js";

const session = (id: string) => ({ id, path: `/sessions/2026_${id}.jsonl` });
const named = (found: readonly { id: string; session: { id: string; path: string } }[]) =>
  found.map((action) => ({ ...action, name: nameOf(action, found) }));

describe("an id that a person gives", () => {
  const all = named([
    { id: "pa_1", session: session("aaaa") },
    { id: "pa_12", session: session("aaaa") },
    { id: "pa_1", session: session("abbb") },
    { id: "pa_3", session: session("abbb") },
  ]);

  it.each([
    ["pa_12", "pa_12"],
    ["12", "pa_12"],
    ["012", "pa_12"],
    ["aaaa:pa_1", "aaaa:pa_1"],
    ["ab:pa_1", "abbb:pa_1"],
    ["ab:1", "abbb:pa_1"],
    ["2026_abbb:pa_1", "abbb:pa_1"],
    ["aaaa:pa_12", "pa_12"],
  ])("%s means %s", (given, name) => {
    expect(findAction(all, given).name).toBe(name);
  });

  it.each([
    ["pa_1", "Name one: aaaa:pa_1, abbb:pa_1."],
    ["a:pa_1", "Name one: aaaa:pa_1, abbb:pa_1."],
    ["pa_", "Name one: aaaa:pa_1, pa_12, abbb:pa_1, pa_3."],
    ["pa_2", "Pending: aaaa:pa_1, pa_12, abbb:pa_1, pa_3."],
    ["", "No pending action"],
    ["abbb:pa_12", "No pending action"],
    ["x", "No pending action"],
  ])("%s is refused, with the names that are accepted", (given, text) => {
    expect(() => findAction(all, given)).toThrow(text);
  });

  it("is not the beginning of another number: that one may be applied already", () => {
    expect(() => findAction(named([{ id: "pa_12", session: session("a") }]), "pa_1")).toThrow("No pending action");
  });

  it("of a session file that was copied by hand needs the name of the file", () => {
    const copies = named([
      { id: "pa_1", session: { id: "a", path: "/s/one.jsonl" } },
      { id: "pa_1", session: { id: "a", path: "/s/two.jsonl" } },
    ]);
    expect(copies.map(({ name }) => name)).toEqual(["one:pa_1", "two:pa_1"]);
    expect(findAction(copies, "two:pa_1")).toBe(copies[1]);
  });

  it("of a change may be cut as long as only one begins so", () => {
    const ids = ["ch_12ab34cd", "ch_12ff34cd"];
    expect(findChange(ids, "ch_12a")).toBe("ch_12ab34cd");
    expect(findChange(ids, "ch_12ff34cd")).toBe("ch_12ff34cd");
    expect(() => findChange(ids, "ch_12")).toThrow(
      'Several changes begin with "ch_12". Name one: ch_12ab34cd, ch_12ff34cd.',
    );
    expect(() => findChange(ids, "ch_99")).toThrow('There is no change with id "ch_99" in this project.');
    expect(() => findChange(ids, "")).toThrow("There is no change");
  });
});
