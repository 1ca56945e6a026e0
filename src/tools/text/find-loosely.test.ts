import fc from "fast-check";
import { expect, it } from "vitest";
import { computeEdit } from "./compute-edit.js";

const fuzzyThreshold = 0.95;

async function edited(file: string, oldText: string, newText: string, leniency = { fuzzyThreshold }) {
  const edits = [{ oldText, newText, all: false }];
  const { after, looseLines } = await computeEdit("a.txt", Buffer.from(file), edits, leniency);
  return { text: after.toString("utf8"), looseLines };
}

const long = "a line that is long enough to be like itself";

it.each([
  ["space at the end of a line", `${long}  \n\treturn 1;\nend\n`, `${long}\n\treturn 1;`, `${long}\n\treturn 2;`],
  ["a tab there", `${long}\t\n\treturn 1;\nend\n`, `${long}\n\treturn 1;\n`, `${long}\n\treturn 2;\n`],
  ["more of it in old_text", `${long}\n\treturn 1;\nend\n`, `${long} \n\treturn 1;`, `${long} \n\treturn 2;`],
  ["CRLF as well", `${long}  \r\n\treturn 1;\r\nend\r\n`, `${long}\n\treturn 1;`, `${long}\n\treturn 2;`],
])("sees past %s, and leaves it as it is", async (_, file, oldText, newText) => {
  expect(await edited(file, oldText, newText)).toEqual({ text: file.replace("return 1", "return 2"), looseLines: [1] });
  await expect(edited(file, oldText, newText, {} as never)).rejects.toThrow("Could not find the exact text in a.txt.");
});

it("sees past quotes, dashes and spaces that look like others", async () => {
  const file = `first\nconst label = \u201cone\u00a0\u2013 two\u2019s\u201d;\n${long}\n${long}\n`;
  expect(await edited(file, `const label = "one - two's";\n${long}\n${long}`, "const label = 1;")).toEqual({
    text: "first\nconst label = 1;\n",
    looseLines: [2],
  });
});

it.each([
  ["another indentation", `  ${long}\n  end`, `\t${long}\n\tend`],
  ["another letter", `${long} a\nend`, `${long} b\nend`],
  ["another number of lines", `${long}\n\nend`, `${long}\nend`],
  ["two places", `${long} \nend\n${long} \nend\n`, `${long}\nend`],
  ["less than is asked for", "a \u2013 \u2013 \u2013 b", "a - - - b"],
  ["nothing but space", "a  \n\nb", "\t\n\n"],
])("does not guess: %s", async (_, file, oldText) => {
  await expect(edited(file, oldText, "new")).rejects.toThrow("Could not find the exact text in a.txt.");
});

it("prefers the exact text, and never touches what surrounds the match", async () => {
  const line = fc.constantFrom("one", "\ttwo", "three \u201cx\u201d", "", "four-4");
  const space = fc.constantFrom("", " ", "\t ");
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(line, space), { maxLength: 6 }),
      fc.array(fc.tuple(line, space), { maxLength: 6 }),
      fc.tuple(space, space),
      async (before, after, [here, there]) => {
        const join = (lines: [string, string][]) => lines.map((parts) => `${parts.join("")}\n`).join("");
        const [head, tail] = [join(before), join(after)];
        const file = `${head}unique ${long}${here}\nunique end\n${tail}`;
        const { text } = await edited(file, `unique ${long}${there}\nunique end`, "new");
        expect(text).toBe(`${head}new\n${tail}`);
      },
    ),
  );
});
