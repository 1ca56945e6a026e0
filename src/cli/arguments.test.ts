import { describe, expect, it } from "vitest";
import { modeOf, parseArguments, refuseOneShot, unknownText } from "./arguments.js";
import { helpText } from "./help.js";
import { optionSpecs, shownOptions } from "./options.js";

const parse = (...argv: string[]) => {
  const { options, words, warnings } = parseArguments(argv);
  return { options: Object.fromEntries(options), words, warnings };
};

describe("parseArguments", () => {
  it("reads switches, values in both spellings, short names, words and repeated options", () => {
    expect(
      parse(
        "-p",
        "--model=a/b:high",
        "--provider",
        "acme",
        "--append-system-prompt",
        "x",
        "say",
        "--append-system-prompt=y",
      ),
    ).toEqual({
      options: { print: [""], model: ["a/b:high"], provider: ["acme"], "append-system-prompt": ["x", "y"] },
      words: ["say"],
      warnings: [],
    });
  });

  it("ends options at --, so that a message may begin with a dash", () => {
    expect(parse("-p", "--", "--help", "-x").words).toEqual(["--help", "-x"]);
  });

  it("takes a text that begins with a dash, but no option of ours, for a text", () => {
    expect(parse("--append-system-prompt", "- Answer in French", "-p").options).toEqual({
      "append-system-prompt": ["- Answer in French"],
      print: [""],
    });
    expect(parse("--system-prompt", "--be-brief").options).toEqual({ "system-prompt": ["--be-brief"] });
    for (const option of ["--mode=rpc", "--print", "-p", "--"])
      expect(() => parse("--system-prompt", option)).toThrow("--system-prompt needs a value (TEXT|FILE).");
  });

  it("an optional value may be left out", () => {
    expect(parse("--list-models").options).toEqual({ "list-models": [""] });
    expect(parse("--list-models", "-p").options).toEqual({ "list-models": [""], print: [""] });
    expect(parse("--list-models", "son").options).toEqual({ "list-models": ["son"] });
  });

  it("keeps a long option that it does not know, with what may be its value, and refuses a short one", () => {
    expect(parseArguments(["a", "--modell", "x", "--frob=1", "--nix", "-p"])).toMatchObject({
      words: ["a", "x"],
      foreign: [
        { flag: "--modell", inline: undefined, nextWord: 1 },
        { flag: "--frob", inline: "1", nextWord: undefined },
        { flag: "--nix", inline: undefined, nextWord: undefined },
      ],
    });
    expect(() => parse("-x")).toThrow("Unknown option -x. See galley --help.");
  });

  it("only warns of a short one in RPC mode, where other programs pass foreign flags", () => {
    expect(parse("--mode", "rpc", "-x", "x")).toEqual({
      options: { mode: ["rpc"] },
      words: ["x"],
      warnings: ["Unknown option -x. See galley --help. It is ignored."],
    });
  });

  it("refuses an option that this version does not support; in RPC mode it warns and ignores it", () => {
    for (const { name } of optionSpecs.filter(({ isUnsupported }) => isUnsupported)) {
      expect(() => parse("-p", `--${name}`, "hi")).toThrow(`--${name} is not supported in this version.`);
      expect(parse("--mode=rpc", `--${name}`)).toEqual({
        options: { mode: ["rpc"] },
        words: [],
        warnings: [`--${name} has no effect in this version.`],
      });
    }
    expect(parse("--", "--no-mcp").words).toEqual(["--no-mcp"]);
    expect(unknownText("--no-mcpp")).toBe("Unknown option --no-mcpp. See galley --help.");
  });

  it("takes an option of one-shot runs with those only: at a terminal refused, in RPC mode a warning", () => {
    const names = optionSpecs.flatMap(({ name, isOneShot }) => (isOneShot ? [name] : []));
    expect(names).toEqual(["then", "json-snapshots", "quiet", "exit-code"]);
    for (const name of names) {
      expect(parse("--mode=rpc", `--${name}`, "hi").warnings).toEqual([`--${name} has no effect in RPC mode.`]);
      expect(parse("-p", `--${name}`, "hi").warnings).toEqual([]);
      expect(() => refuseOneShot(parseArguments([`--${name}`, "hi"]))).toThrow(
        `--${name} is for one-shot runs. Add -p.`,
      );
    }
    expect(() => refuseOneShot(parseArguments(["--stage", "hi"]))).not.toThrow();
  });

  it("refuses a missing value, a value for a switch, and an unknown mode", () => {
    expect(() => parse("--model")).toThrow("--model needs a value (PATTERN[:LEVEL]).");
    expect(() => parse("--model", "--print")).toThrow("--model needs a value");
    expect(() => parse("--print=yes")).toThrow("--print takes no value.");
    expect(() => modeOf(parseArguments(["--mode", "xml"]))).toThrow('--mode must be text, json or rpc, not "xml".');
  });
});

describe("helpText", () => {
  it("names every option that has an effect, and no other", () => {
    for (const spec of optionSpecs)
      expect(new RegExp(`--${spec.name}\\b(?!-)`).test(helpText())).toBe(shownOptions.includes(spec));
    expect(helpText()).not.toContain("not in this version");
  });
});
