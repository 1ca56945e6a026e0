// Every link between documents leads somewhere: the file exists, and so does the heading. The index names every page.

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { projectRoot } from "../kit/run-galley.js";

const pages = [
  ...namesIn(".", 1),
  ...namesIn("docs", 1),
  ...namesIn("examples", 2),
  ...namesIn("clients", 2),
  ...namesIn("bench", 1),
].map((path) => ({ path, text: readFileSync(join(projectRoot, path), "utf8") }));

describe("the documents", () => {
  it("link only to files and headings that exist", () => {
    expect(pages.length).toBeGreaterThan(20);
    expect(pages.flatMap(({ path, text }) => linksIn(text).flatMap((link) => problemOf(path, link)))).toEqual([]);
  });

  it("are checked: a missing file, a missing heading and a reference without a target are told", () => {
    const links = linksIn(
      "[a](no.md) [b](rpc.md#no-such) [c](rpc.md#9-events) `[d](x.md)` [e](https://e.org)\n[f]: g.md\n",
    );
    expect(links).toEqual(["no.md", "rpc.md#no-such", "rpc.md#9-events", "g.md"]);
    expect(links.flatMap((link) => problemOf("docs/sdk.md", link))).toEqual([
      "docs/sdk.md: no.md does not exist",
      "docs/sdk.md: rpc.md has no heading #no-such",
      "docs/sdk.md: g.md does not exist",
    ]);
    expect(anchorsOf("# A `b`, c!\n## A\n```sh\n# no\n```\n## A\n")).toEqual(["a-b-c", "a", "a-1"]);
  });
});

describe("docs/README.md", () => {
  it("names every page once, and the README names it", () => {
    const index = linksIn(textOf("docs/README.md")).filter((link) => !link.includes("/"));
    expect(index.sort()).toEqual(
      readdirSync(join(projectRoot, "docs"))
        .filter((name) => name !== "README.md")
        .sort(),
    );
    expect(linksIn(textOf("README.md"))).toContain("docs/README.md");
  });
});

function textOf(path: string): string {
  return pages.find((page) => page.path === path)?.text ?? "";
}

/** Markdown files at most `depth` levels below. */
function namesIn(folder: string, depth: number): string[] {
  return readdirSync(join(projectRoot, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && depth > 1) return namesIn(path, depth - 1);
    return entry.isFile() && path.endsWith(".md") ? [path] : [];
  });
}

/** The targets of links to this project, outside of code. */
function linksIn(text: string): string[] {
  const prose = withoutCode(text).replace(/`[^`\n]*`/g, "");
  const found = prose.matchAll(/\]\(([^()\s]+)\)|^\[[^\]]+\]: (\S+)$/gm);
  return [...found].map(([, inline, reference]) => inline ?? reference ?? "").filter((link) => !/^[a-z]+:/.test(link));
}

function problemOf(page: string, link: string): string[] {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? page : relative(projectRoot, resolve(projectRoot, dirname(page), path));
  if (!existsSync(join(projectRoot, target))) return [`${page}: ${path} does not exist`];
  if (anchor === undefined) return [];
  const isFile = statSync(join(projectRoot, target)).isFile();
  const anchors = isFile ? anchorsOf(readFileSync(join(projectRoot, target), "utf8")) : [];
  return anchors.includes(anchor) ? [] : [`${page}: ${path} has no heading #${anchor}`];
}

/** As GitHub makes them. */
function anchorsOf(text: string): string[] {
  const seen = new Map<string, number>();
  return [...withoutCode(text).matchAll(/^#{1,6} (.*)$/gm)].map(([, heading = ""]) => {
    const plain = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .trim()
      .toLowerCase();
    const anchor = plain.replace(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(" ", "-");
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    return times === 0 ? anchor : `${anchor}-${times}`;
  });
}

function withoutCode(text: string): string {
  return text.replace(/^\s*```.*?^\s*```$/gms, "");
}
