import { describe, expect, it } from "vitest";
import { parseArguments, refuseForeign } from "./arguments.js";
import { resolveFlags } from "./extension-flags.js";

const flags = new Map([
  ["loud", { type: "boolean" as const }],
  ["greeting", { type: "string" as const }],
]);

const resolve = (...argv: string[]) => {
  const { values, words, problems } = resolveFlags(parseArguments(argv), flags);
  return { values: Object.fromEntries(values), words, problems };
};

describe("flags of extensions", () => {
  it("are switches, or take what follows in either spelling", () => {
    expect(resolve("-p", "--loud", "hello", "--greeting", "Ahoy", "there")).toEqual({
      values: { loud: true, greeting: "Ahoy" },
      words: ["hello", "there"],
      problems: [],
    });
    expect(resolve("-p", "--loud=false", "--greeting=Good day", "hello")).toEqual({
      values: { loud: false, greeting: "Good day" },
      words: ["hello"],
      problems: [],
    });
  });

  it("that no extension has, or that are misused, are reported in order", () => {
    expect(resolve("-p", "--modell", "x", "--loud=very", "--greeting", "--frob")).toEqual({
      values: {},
      words: ["x"],
      problems: [
        "Unknown option --modell. Did you mean --model?",
        "--loud takes no value.",
        "--greeting needs a value.",
        "Unknown option --frob. See galley --help.",
      ],
    });
  });

  it("end at --", () => {
    expect(resolve("-p", "--greeting", "--", "word")).toMatchObject({
      words: ["word"],
      problems: ["--greeting needs a value."],
    });
  });
});

it("where no extension is loaded, the first unknown option is refused", () => {
  expect(() => refuseForeign(parseArguments(["--version", "--modell"]))).toThrow("Did you mean --model?");
  expect(() => refuseForeign(parseArguments(["--mode", "rpc", "--modell"]))).not.toThrow();
  expect(() => refuseForeign(parseArguments(["--version"]))).not.toThrow();
});
