import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/kit/runs.js";
import { Markdown } from "../compat/component-library.js";
import { Box, Container, Spacer, Text } from "../compat/components.js";
import { truncateToWidth, visibleWidth, wrapTextWithAnsi } from "../compat/terminal-text.js";
import { plainTheme, type Theme } from "../compat/theme.js";
import type { ToolFailure } from "./custom-tool-failure.js";
import { type RenderHooks, type RenderView, ToolRenderer } from "./render.js";

const theme: Theme = {
  ...plainTheme,
  fg: (color, text) => `<${color}>${text}`,
  bold: (text) => `*${text}*`,
};
const view: RenderView = {
  theme,
  expanded: true,
  isPartial: true,
  spinnerFrame: 3,
  toolCallId: "c1",
  cwd: "/project",
  state: {},
  executionStarted: true,
  argsComplete: true,
  showImages: false,
  isError: false,
  invalidate() {},
};

function renderer(hooks: RenderHooks) {
  const warnings: string[] = [];
  const failures: ToolFailure[] = [];
  const log = { warn: (text: string) => void warnings.push(text), error: (text: string) => void warnings.push(text) };
  const tool = { name: "t", label: "Tool", ...hooks };
  const made = new ToolRenderer({ tool, path: "/t.ts", log, onError: (failure) => failures.push(failure) });
  return { made, warnings, failures };
}

const line = (text: string) => new Text(text, 0, 0);
const result = { content: [{ type: "text" as const, text: "plain" }], details: { n: 1 } };
const trimmed = (lines: string[]) => lines.map((text) => text.trimEnd());

describe("renderCall", () => {
  it.each<[string, NonNullable<RenderHooks["renderCall"]>]>([
    ["(args, theme)", (args, given) => line(given.fg("accent", `run ${args.n}`))],
    [
      "(args, options, theme)",
      (args, options, given) => line(given.fg("accent", `run ${args.n}${options.expanded ? "" : "!"}`)),
    ],
    [
      "(args, theme, context)",
      (args, given, context) => line(given.fg("accent", `run ${context.args.n}${args === context.args ? "" : "!"}`)),
    ],
  ])("as %s", (_signature, renderCall) => {
    const { made, warnings } = renderer({ renderCall });
    expect(trimmed(made.call({ n: 1 }, view, 40))).toEqual(["<accent>run 1"]);
    expect(warnings).toEqual([]);
  });

  it("gives options, context and the last component in one object", () => {
    const seen: Record<string, unknown>[] = [];
    const { made } = renderer({ renderCall: (_args, hybrid) => (seen.push(hybrid) > 0 ? line("x") : null) });
    made.call({}, view, 40);
    made.call({}, view, 40);
    expect(seen[0]).toMatchObject({
      expanded: true,
      isPartial: true,
      spinnerFrame: 3,
      toolCallId: "c1",
      cwd: "/project",
    });
    expect(seen[0]?.lastComponent).toBeUndefined();
    expect(seen[1]?.lastComponent).toBeInstanceOf(Text);
  });
});

describe("renderResult", () => {
  it("gets result, options, theme, arguments and context", () => {
    const seen: unknown[] = [];
    const { made } = renderer({ renderResult: (...args) => (seen.push(...args) > 0 ? "drawn" : null) });
    expect(trimmed(made.result(result, { path: "a" }, view, 40))).toEqual(["drawn"]);
    const [given, options, ownTheme, args] = seen as [unknown, RenderView, Theme, Record<string, unknown>];
    expect(given).toEqual({ ...result, isError: false });
    expect([options.expanded, options.isPartial, options.spinnerFrame]).toEqual([true, true, 3]);
    expect(ownTheme).toBe(theme);
    expect({ ...args }).toEqual({ path: "a" });
    expect([args.toolCallId, args.state]).toEqual(["c1", view.state]);
  });
});

describe("the usual drawing", () => {
  it("stands in where there is no hook, or it returns nothing", () => {
    for (const hooks of [{}, { renderCall: () => undefined, renderResult: () => null }]) {
      const { made, warnings } = renderer(hooks);
      expect(trimmed(made.call({}, view, 40))).toEqual(["<toolTitle>*Tool*"]);
      expect(trimmed(made.result(result, {}, view, 40))).toEqual(["<toolOutput>plain"]);
      expect(warnings).toEqual([]);
    }
  });

  it.each<[string, RenderHooks["renderResult"], string]>([
    [
      "throws",
      () => {
        throw new Error("boom");
      },
      "boom",
    ],
    [
      "returns something that throws when drawn",
      () => ({
        render() {
          throw new Error("later");
        },
      }),
      "later",
    ],
    [
      "returns a promise",
      (async () => line("x")) as unknown as RenderHooks["renderResult"],
      "it must return a component, and at once",
    ],
    ["draws no lines", () => ({ render: () => [1] as unknown as string[] }), "render must return an array of strings"],
  ])("stands in for good when the hook %s", (_title, renderResult, error) => {
    let calls = 0;
    const { made, warnings, failures } = renderer({
      renderResult: (...args) => {
        calls++;
        return renderResult?.(...args);
      },
    });
    for (let times = 0; times < 2; times++)
      expect(trimmed(made.result(result, {}, view, 40))).toEqual(["<toolOutput>plain"]);
    expect(calls).toBe(1);
    expect(warnings).toEqual([`/t.ts: Tool renderer failed ${JSON.stringify({ tool: "t", error })}`]);
    expect(failures).toEqual([{ extensionPath: "/t.ts", event: "renderResult", error }]);
  });

  it("cuts lines that are too wide and says so once", () => {
    const { made, warnings } = renderer({ renderCall: () => ({ render: () => ["x".repeat(50), "short"] }) });
    expect(made.call({}, view, 10)).toEqual(["xxxxxxxxx…", "short"]);
    made.call({}, view, 10);
    expect(warnings).toEqual(["tool t draws lines wider than 10 columns; they are cut"]);
  });
});

describe("components", () => {
  it("wrap, pad and stack", () => {
    expect(new Text("one two three", 1, 1).render(9)).toEqual(["         ", " one two ", " three   ", "         "]);
    expect(new Text("").render(9)).toEqual([]);
    const box = new Box(1, 0, (text) => `[${text}]`);
    expect(box.render(8)).toEqual([]);
    const child = line("a\tb");
    box.addChild(child);
    box.addChild(new Spacer());
    expect(box.render(8)).toEqual(["[ a   b  ]", "[        ]"]);
    box.removeChild(child);
    expect(box.render(8)).toEqual(["[        ]"]);
    const stack = new Container();
    stack.addChild(line("x"));
    stack.clear();
    expect(stack.render(4)).toEqual([]);
  });

  it("know how wide text is", () => {
    expect(visibleWidth("\x1b[31mred\x1b[0m")).toBe(3);
    expect(visibleWidth("日本")).toBe(4);
    expect(visibleWidth("e\u0301👍🏽")).toBe(3);
    expect(truncateToWidth("\x1b[31mabcdef\x1b[0m", 4)).toBe("\x1b[31mabc\x1b[0m…");
    expect(wrapTextWithAnsi("\x1b[1mone two\x1b[0m end", 4)).toEqual(["\x1b[1mone\x1b[0m", "\x1b[1mtwo\x1b[0m", "end"]);
  });

  it("never draw wider than they were told", () => {
    const words = fc.array(
      fc.constantFrom("a", "word ", " ", "日本語", "👍", "\x1b[31m", "\x1b[0m", "\n", "longerword", "\t"),
    );
    fc.assert(
      fc.property(words, fc.integer({ min: 2, max: 20 }), (parts, width) => {
        const text = parts.join("");
        for (const made of [new Text(text, 0, 0), new Text(text)])
          for (const drawn of made.render(Math.max(width, 4)))
            expect(visibleWidth(drawn)).toBeLessThanOrEqual(Math.max(width, 4));
        expect(visibleWidth(truncateToWidth(text.replaceAll("\n", ""), width))).toBeLessThanOrEqual(width);
      }),
      { numRuns: runs(300) },
    );
  });
});

it("shows links, and brackets without an end in no time", () => {
  const [shown = ""] = new Markdown("See [the page](https://example.org/a).", 0, 0).render(80);
  expect(shown.trimEnd()).toBe("See the page (https://example.org/a).");
  // In proportion to the square of it, this would take minutes.
  for (const text of ["[".repeat(250_000), "[a](".repeat(62_500)])
    expect(new Markdown(text, 0, 0).render(80).join("").length).toBeGreaterThanOrEqual(text.length);
});

it("measures a long text as the sum of its characters, wherever it is cut up for that", () => {
  for (const [character, width] of [
    ["a", 1],
    ["e\u0301", 1],
    ["\u{1f1e9}\u{1f1ea}", 2],
    ["\u{1f469}\u200d\u{1f4bb}", 2],
  ] as const)
    for (const before of ["", "x"]) {
      const text = before + character.repeat(2000);
      expect(visibleWidth(text)).toBe(before.length + 2000 * width);
      expect(wrapTextWithAnsi(text, 80).join("")).toBe(text);
    }
});
