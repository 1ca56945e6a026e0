// Section 3 of ARCHITECTURE.md, followed link by link: every file is entered from an earlier one of the walk, by a call
// into it or through a contract that the step names.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");

interface Step {
  readonly number: number;
  readonly path: string;
  readonly name: string;
  readonly from: number | undefined;
  /** `by`: the caller imports the file and uses this name of it. `through`: a name that leads there. */
  readonly how: string | undefined;
  readonly via: string | undefined;
  /** What a reader opens with it. */
  readonly beside: readonly { readonly path: string; readonly name: string }[];
}

const steps = stepsOf(read("ARCHITECTURE.md"));

function stepsOf(text: string): Step[] {
  const section = text.slice(text.indexOf("## 3."), text.indexOf("## 4."));
  const items = section.split(/^(?=\d+\. \*\*)/m).slice(1);
  return items.map((item) => {
    const [, number] = /^(\d+)\./.exec(item) ?? [];
    const [first, ...others] = [...item.matchAll(/\]\((src\/[^)]+)\)\s+`(\w+)`/g)];
    const [, path = "", name = ""] = first ?? [];
    const beside = others.map(([, file = "", what = ""]) => ({ path: file, name: what }));
    const [, from, how, via] =
      /\*Called\s+from\s+step\s+(\d+)\s+(by|through)(?:\s+the\s+(?:contract|table))?\s+`(\w+)`\.\*/.exec(item) ?? [];
    return {
      number: Number(number),
      path,
      name,
      from: from === undefined ? undefined : Number(from),
      how,
      via,
      beside,
    };
  });
}

function importsOf(path: string): string[] {
  return [...read(path).matchAll(/(?:from |import\()"(\.[^"]+)"/g)]
    .map(([, specifier = ""]) => relative(root, resolve(root, dirname(path), specifier)).replace(/\.js$/, ".ts"))
    .filter((file) => existsSync(join(root, file))); // a text in the source may hold an import of its own
}

/** Whether imports lead from one file to another, over at most so many of them. */
function leads(from: string, to: string, hops: number): boolean {
  if (from === to) return true;
  return hops > 0 && importsOf(from).some((next) => leads(next, to, hops - 1));
}

const page = read("ARCHITECTURE.md");

it("has steps, and names each file once", () => {
  expect(steps.length).toBeGreaterThan(10);
  const named = [...steps, ...steps.flatMap(({ beside }) => beside)].map(({ path }) => path);
  expect(named).toEqual([...new Set(named)]);
  const section = page.slice(page.indexOf("## 3."), page.indexOf("## 4."));
  expect(new Set([...section.matchAll(/\b(src\/[\w./-]+\.ts)\b/g)].map(([path]) => path))).toEqual(new Set(named));
});

it.each(steps.flatMap(({ path, beside }) => beside.map((file) => ({ ...file, of: path }))))(
  "$path has $name, and stands beside what uses it: $of",
  ({ path, name, of }) => {
    expect(read(path)).toMatch(new RegExp(`(?:function|class|const|interface|type) ${name}\\b`));
    // It uses the file, or is used through the same contract.
    expect(leads(of, path, 3) || leads(path, of, 3) || typesOf(of).some((file) => typesOf(path).includes(file))).toBe(
      true,
    );
  },
);

it.each(steps)("step $number: $path has $name", ({ path, name }) => {
  expect(read(path)).toMatch(new RegExp(`(?:function|class|const) ${name}\\b|^  (?:async )?${name}[<(]`, "m"));
});

it.each(steps.slice(1))("step $number is reached from step $from $how $via", ({ number, path, from, how, via }) => {
  const caller = steps.find((step) => step.number === from);
  if (!caller || via === undefined) throw new Error("the step does not say from where it is called");
  expect(caller.number).toBeLessThan(number);
  const text = read(caller.path);
  expect(text).toMatch(new RegExp(`\\b${via}\\b`));
  if (how === "by") {
    expect(importsOf(caller.path)).toContain(path);
    expect(text).toMatch(new RegExp(`(?:await |= |return |new |=> |\\()${via}\\(`));
    return;
  }
  // The contract or table is named in a file that the caller knows, and imports lead from its users to the step.
  const users = filesNaming(via).filter((file) => file !== path);
  expect(users.length).toBeGreaterThan(1);
  expect(users.some((file) => leads(file, path, 3))).toBe(true);
});

function typesOf(path: string): string[] {
  return importsOf(path).filter((file) => file.startsWith("src/tools/"));
}

function filesNaming(name: string): string[] {
  const pattern = new RegExp(`\\b${name}\\b`);
  return sourceFiles().filter((file) => pattern.test(read(file)));
}

let files: string[] | undefined;
function sourceFiles(): string[] {
  if (files) return files;
  const seen = new Set<string>();
  const visit = (path: string) => {
    if (seen.has(path) || !path.startsWith("src/") || !path.endsWith(".ts")) return;
    seen.add(path);
    for (const next of importsOf(path)) visit(next);
  };
  visit("src/cli/main.ts");
  files = [...seen];
  return files;
}
