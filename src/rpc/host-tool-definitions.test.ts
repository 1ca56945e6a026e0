import { describe, expect, it } from "vitest";
import { readHostTools } from "./host-tool-definitions.js";

const parameters = { type: "object" };
const echo = { name: "echo", description: "Echo", parameters };

describe("the tools of a host", () => {
  it("are trimmed, and only what is exactly true is hidden", () => {
    const odd = {
      name: " Echo\n",
      description: "\tEcho ",
      label: "  ",
      parameters,
      hidden: "yes",
      timeoutMs: null,
      x: 1,
    };
    expect(readHostTools([odd, { ...echo, label: " Echoes ", hidden: true, timeoutMs: 5.5 }])).toEqual([
      { name: "Echo", label: "Echo", description: "Echo", parameters, hidden: false, timeoutMs: undefined },
      { name: "echo", label: "Echoes", description: "Echo", parameters, hidden: true, timeoutMs: 5.5 },
    ]);
  });

  it.each([
    [[echo, {}], "Host tool at index 1 must provide a non-empty name"],
    [[echo, null], "Host tool at index 1 must provide a non-empty name"],
    [[{ ...echo, name: " " }], "Host tool at index 0 must provide a non-empty name"],
    [[{ ...echo, name: 7 }], "Host tool at index 0 must provide a non-empty name"],
    [[{ ...echo, description: "\n" }], 'Host tool "echo" must provide a non-empty description'],
    [[{ name: "echo", parameters }], 'Host tool "echo" must provide a non-empty description'],
    [[{ ...echo, parameters: [] }], 'Host tool "echo" must provide a JSON Schema object'],
    [[{ ...echo, parameters: null }], 'Host tool "echo" must provide a JSON Schema object'],
    [[{ ...echo, timeoutMs: 0 }], 'Host tool "echo" must provide a positive number as timeoutMs'],
    [[{ ...echo, timeoutMs: "9" }], 'Host tool "echo" must provide a positive number as timeoutMs'],
  ])("are refused as a whole: %j", (tools, sentence) => {
    expect(() => readHostTools(tools)).toThrow(sentence);
  });
});
