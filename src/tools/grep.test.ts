import { execFile } from "node:child_process";
import { chmod, link, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSearchRig, type SearchRig, textOf } from "../../test/kit/search-rig.js";
import { GalleyError } from "../base/errors.js";
import type { ProcessEnd, ProcessRequest } from "../processes/processes.js";
import type { GrepDetails } from "./grep.js";

const fallbackNote = "Searched without ripgrep, with JavaScript's regular expressions";
const engines = [
  ["ripgrep", {}],
  ["the fallback", { without: "ripgrep" }],
] as const;

let rig: SearchRig;
beforeAll(async () => {
  rig = await openSearchRig({
    "a.ts": "one\nneedle 1\nthree\n\nfive\nneedle 2\n",
    "z.txt": "Needle\r\nneedle$\r\n",
    "src/b.ts": "x\nneedle 3\n",
    "src/deep/c.md": "needle 4\nneedle 5\n",
    "src/d.ts": "no\n",
    ".hidden/h.ts": "needle 6\n",
    ".gitignore": "ignored.ts\nout/\n",
    "ignored.ts": "needle 7\n",
    "out/o.ts": "needle 8\n",
    "node_modules/m/m.ts": "needle 9\n",
    ".git/config": "needle 10\n",
    "sub/.git": "needle 11\n",
    "app/[id]/page.ts": "needle 12\n",
    "data.bin": Buffer.concat([Buffer.from("needle\n"), Buffer.alloc(100)]),
  });
});
afterAll(() => rig.close());

/** Without the remark that tells the engines apart. */
async function lines(args: Record<string, unknown>, options: (typeof engines)[number][1]): Promise<string[]> {
  const text = textOf(await rig.grep(args, options));
  return text.replace(`. ${fallbackNote}]`, "]").replace(`\n\n[${fallbackNote}]`, "").split("\n");
}

describe.each(engines)("with %s", (_, options) => {
  it("groups by directory, in the order of paths", async () => {
    expect(await lines({ pattern: "needle \\d" }, options)).toEqual([
      "# .hidden",
      "## └─ h.ts",
      "1:needle 6",
      "# a.ts",
      "2:needle 1",
      "6:needle 2",
      "# app/[id]",
      "## └─ page.ts",
      "1:needle 12",
      "# src",
      "## └─ b.ts",
      "2:needle 3",
      "# src/deep",
      "## └─ c.md",
      "1:needle 4",
      "2:needle 5",
      "# sub",
      "## └─ .git",
      "1:needle 11",
    ]);
  });

  it.each([
    ["a file, without headings", { pattern: "needle", path: "a.ts" }, ["2:needle 1", "6:needle 2"]],
    ["an ignored file that is named", { pattern: "needle", path: "ignored.ts" }, ["1:needle 7"]],
    [
      "context, marked, once",
      { pattern: "needle", path: "a.ts", pre: 1, post: 2 },
      ["1-one", "2:needle 1", "3-three", "4-", "5-five", "6:needle 2"],
    ],
    ["context=", { pattern: "needle 3", path: "src/b.ts", context: 1 }, ["1-x", "2:needle 3"]],
    ["ignoreCase=", { pattern: "NEEDLE 3", path: "src/b.ts", ignoreCase: true }, ["2:needle 3"]],
    ["literal=", { pattern: "needle$", path: "z.txt", literal: true }, ["2:needle$"]],
    ["an end of line before CRLF", { pattern: "(?:e|\\$)$", path: "z.txt" }, ["1:Needle", "2:needle$"]],
    [
      "a list",
      { pattern: "needle [13]", path: "a.ts, src/b.ts" },
      ["# a.ts", "2:needle 1", "# src", "## └─ b.ts", "2:needle 3"],
    ],
    ["a glob", { pattern: "needle", path: "src/**/*.md" }, ["# src/deep", "## └─ c.md", "1:needle 4", "2:needle 5"]],
    ["a glob in braces", { pattern: "needle 3", path: "src/*.{ts,md}" }, ["# src", "## └─ b.ts", "2:needle 3"]],
    [
      "a directory that looks like a glob",
      { pattern: "needle", path: "app/[id]/*.ts" },
      ["# app/[id]", "## └─ page.ts", "1:needle 12"],
    ],
    [
      "a filter on names",
      { pattern: "needle", path: "src", glob: "*.md" },
      ["# src/deep", "## └─ c.md", "1:needle 4", "2:needle 5"],
    ],
    ["a filter on paths", { pattern: "needle", glob: "src/*.ts" }, ["# src", "## └─ b.ts", "2:needle 3"]],
    ["a filter that a named file fails", { pattern: "needle", path: "a.ts", glob: "*.md" }, ["No matches found"]],
    [
      "a directory that is usually skipped",
      { pattern: "needle", path: "node_modules" },
      ["# node_modules/m", "## └─ m.ts", "1:needle 9"],
    ],
    [
      "one that a glob mentions",
      { pattern: "needle", path: "node_modules/*/m.ts" },
      ["# node_modules/m", "## └─ m.ts", "1:needle 9"],
    ],
    ["an ignored directory by name", { pattern: "needle", path: "out" }, ["# out", "## └─ o.ts", "1:needle 8"]],
    ["overlapping places once", { pattern: "needle 3", path: "src,src/b.ts" }, ["# src", "## └─ b.ts", "2:needle 3"]],
    ["several lines", { pattern: "three\\n\\nfive", path: "a.ts" }, ["3:three", "4:", "5:five"]],
    ["nothing in binary files", { pattern: "needle", path: "data.bin" }, ["No matches found"]],
  ])("finds %s", async (_, args, expected) => {
    expect(await lines(args, options)).toEqual(expected);
  });

  it("gives pages that add up", async () => {
    expect(await lines({ pattern: "needle \\d", limit: 2 }, options)).toEqual([
      "# .hidden",
      "## └─ h.ts",
      "1:needle 6",
      "# a.ts",
      "2:needle 1",
      "",
      "[2 matches limit reached. Use limit=4 for more]",
    ]);
    const all = (await lines({ pattern: "needle \\d" }, options)).filter((line) => /^\d/.test(line));
    const paged: string[] = [];
    for (let offset = 0; offset < all.length; offset += 3)
      paged.push(
        ...(await lines({ pattern: "needle \\d", limit: 3, offset }, options)).filter((line) => /^\d/.test(line)),
      );
    expect(paged).toEqual(all);
    expect(await lines({ pattern: "needle \\d", offset: 8 }, options)).toEqual([
      "No matches found",
      "",
      "[Offset 8 is beyond the last of 8 matching lines]",
    ]);
  });

  it("keeps the context of one page out of the next", async () => {
    const args = { pattern: "needle", path: "a.ts", pre: 4, limit: 1 };
    expect(await lines({ ...args, offset: 1 }, options)).toEqual([
      "2-needle 1",
      "3-three",
      "4-",
      "5-five",
      "6:needle 2",
    ]);
  });

  it("gives the first by their whole paths, not directory by directory", async () => {
    const names = ["order/a.ts", "order/a/x.ts", "order/a-b/y.ts", "order/a.d/z.ts", "order/a0.ts", "order/a/b/c.ts"];
    await rig.write(Object.fromEntries(names.map((name) => [name, "sorted\n"])));
    const pages = names.map(async (_name, offset) => {
      const { details } = await rig.grep({ pattern: "sorted", path: "order", limit: 1, offset }, options);
      return (details as GrepDetails).fileMatches.map(({ path }) => path);
    });
    expect((await Promise.all(pages)).flat()).toEqual(names.toSorted());
    await rm(join(rig.cwd, "order"), { recursive: true });
  });

  it("says nothing of what the workspace would not open, and finds the next ones instead", async () => {
    const agent = join(rig.cwd, "../home/.galley/agent");
    await mkdir(agent, { recursive: true });
    await writeFile(join(agent, "auth.json"), "secret of the service\n");
    await link(join(agent, "auth.json"), join(rig.cwd, "copy.json"));
    await symlink(join(agent, "auth.json"), join(rig.cwd, "link.json"));
    await rig.write({
      id_rsa: "secret\n",
      "deploy.txt": "-----BEGIN RSA PRIVATE KEY-----\nsecret\nsecret\n",
      "plain.txt": "secret 1\nsecret 2\n",
    });
    const found = await lines({ pattern: "secret", limit: 2 }, options);
    expect(found.slice(0, 3)).toEqual(["# plain.txt", "1:secret 1", "2:secret 2"]);
    // A walk leaves them out unseen, but for the key that only its content tells.
    if (_ === "ripgrep") expect(found.at(-1)).toBe("[3 files with matches left out: not allowed to be read]");
    await Promise.all(
      ["copy.json", "link.json", "id_rsa", "deploy.txt", "plain.txt"].map((name) => rm(join(rig.cwd, name))),
    );
  });

  it("asks for a secret that was named, and for none that it came across", async () => {
    await rig.write({ ".env": "token=1\n", "env.txt": "token=2\n", [`.a.${"0".repeat(32)}-1.new`]: "token=3\n" });
    const asked = rig.questions.length;
    expect((await lines({ pattern: "token" }, options)).slice(0, 2)).toEqual(["# env.txt", "1:token=2"]);
    expect(rig.questions.slice(asked)).toEqual([]);
    expect(await lines({ pattern: "token", path: ".env" }, options)).toEqual(["1:token=1"]);
    expect(rig.questions.slice(asked)).toEqual([".env"]);
    await Promise.all([".env", "env.txt"].map((name) => rm(join(rig.cwd, name))));
  });

  it("shows names on one line, and leaves out those that cannot be opened by name", async () => {
    await rig.write({ "odd/\u202eevil.txt": "odd 1\n", "odd/a\n\n1:b": "odd 2\n", "odd/\u001b[31mred": "odd 3\n" });
    const found = await lines({ pattern: "odd \\d" }, options);
    expect(found.slice(0, 2)).toEqual(["# odd", expect.stringMatching(/^## └─ /)]);
    expect(found).toContain("## └─ \\u202eevil.txt");
    for (const character of ["\u001b", "\u202e"]) expect(found.join("\n")).not.toContain(character);
    await rm(join(rig.cwd, "odd"), { recursive: true });
  });

  it("cuts long lines and removes escapes", async () => {
    await rig.write({ "min.js": `long${"x".repeat(2_000_000)}\n\u001b[31mlong red\n` });
    const text = await lines({ pattern: "long", path: "min.js" }, options);
    expect(text).toEqual([`1:long${"x".repeat(1020)}…`, "2:long red", "", "[Some lines truncated to 1024 chars]"]);
    await rm(join(rig.cwd, "min.js"));
  });

  it.each([
    [{ pattern: "" }, "Pattern must not be empty"],
    [{ pattern: "a\0b" }, "Pattern must not contain a NUL character"],
    [{ pattern: "a", path: "nowhere" }, "Path not found: nowhere"],
    [{ pattern: "a", path: "a.ts,nowhere" }, "Path not found: nowhere"],
    [{ pattern: "a", path: "nowhere/*.ts" }, "Path not found: nowhere/*.ts"],
    [{ pattern: "a", limit: -1 }, "Limit must be a non-negative number"],
    [{ pattern: "a", limit: Number.NaN }, "Limit must be a non-negative number"],
    [{ pattern: "a", offset: 1e9 }, "Offset must not be more than 10000; narrow the search"],
    [{ pattern: "a", type: "--pre=sh" }, "Type must be a name such as ts, py or rust"],
    [{ pattern: "a", glob: "**/*".repeat(9) }, "has too many wildcards"],
  ])("refuses %j", async (args, problem) => {
    await expect(rig.grep(args, options)).rejects.toThrow(problem);
  });

  it("tells a bad pattern without our paths", async () => {
    const problem = await rig.grep({ pattern: "foo(" }, options).catch((error: Error) => error.message);
    expect(problem).toMatch(/unclosed group|Unterminated group/);
    expect(problem).not.toContain(rig.cwd);
  });

  it("stops when asked", async () => {
    await expect(rig.grep({ pattern: "needle" }, { ...options, signal: AbortSignal.abort() })).rejects.toThrow(
      new GalleyError("aborted", "Operation aborted"),
    );
  });
});

describe("ripgrep alone", () => {
  it("searches a type, ignored files, and what needs the other engine", async () => {
    expect(await lines({ pattern: "needle 4", type: "md" }, {})).toContain("1:needle 4");
    expect(await lines({ pattern: "needle 4", type: "ts" }, {})).toEqual(["No matches found"]);
    expect(await lines({ pattern: "needle [78]", gitignore: false }, {})).toEqual([
      "# ignored.ts",
      "1:needle 7",
      "# out",
      "## └─ o.ts",
      "1:needle 8",
    ]);
    expect(await lines({ pattern: "(?<=needle )3" }, {})).toContain("2:needle 3");
    await expect(rig.grep({ pattern: "a", type: "nope" })).rejects.toThrow("unrecognized file type: nope");
    await expect(rig.grep({ pattern: "a", type: "ts" }, { without: "ripgrep" })).rejects.toThrow("Use glob instead");
  });

  it("passes nothing of the model's as an option", async () => {
    expect(await lines({ pattern: "--files" }, {})).toEqual(["No matches found"]);
    await rig.write({ "--files": "dash needle\n" });
    expect(await lines({ pattern: "dash", path: "./--files" }, {})).toEqual(["1:dash needle"]);
    expect(await lines({ pattern: "dash", glob: "--files" }, {})).toEqual(["# --files", "1:dash needle"]);
    await rm(join(rig.cwd, "--files"));
  });

  it("drops a binary file even when its first lines were told", async () => {
    const late = Buffer.concat([Buffer.from("late\n"), Buffer.alloc(200_000, "x\n"), Buffer.from([0, 10])]);
    await rig.write({ "late.bin": late, "later.txt": "late\n" });
    expect(await lines({ pattern: "late" }, {})).toEqual(["# later.txt", "1:late"]);
    await rm(join(rig.cwd, "late.bin"));
    await rm(join(rig.cwd, "later.txt"));
  });

  it("follows no link and shows no name that is no text", async () => {
    await symlink(join(rig.cwd, "src"), join(rig.cwd, "linked"));
    await writeFile(Buffer.concat([Buffer.from(`${rig.cwd}/bad`), Buffer.from([0xff])]), "needle 3 too\n");
    const found = await lines({ pattern: "needle 3" }, {});
    expect(found).toEqual([
      "# src",
      "## └─ b.ts",
      "2:needle 3",
      "",
      "[1 file with matches left out: not allowed to be read]",
    ]);
    await promisify(execFile)("find", [rig.cwd, "-name", "bad*", "-delete"]);
    await rm(join(rig.cwd, "linked"));
  });

  it("says when something could not be read", async () => {
    await rig.write({ "locked/x.ts": "needle\n" });
    await chmod(join(rig.cwd, "locked"), 0);
    const found = await lines({ pattern: "needle 3" }, {});
    await chmod(join(rig.cwd, "locked"), 0o755);
    await rm(join(rig.cwd, "locked"), { recursive: true });
    // Root may read everything.
    if (process.getuid?.() !== 0) expect(found.at(-1)).toBe("[Some files or directories could not be searched]");
    expect(found).toContain("2:needle 3");
  });

  it("is told apart from a session that has none: the ignore file above a directory without a repository", async () => {
    const bare = await openSearchRig({ "../.gitignore": "*\n", "a.ts": "needle\n" });
    expect(textOf(await bare.grep({ pattern: "needle" }))).toBe("# a.ts\n1:needle");
    await bare.close();
  });

  it("falls back when it does not start, and stops its child when aborted", async () => {
    const failing = { run: () => Promise.reject(new GalleyError("start_failed", "no")), shutdown: async () => {} };
    expect(textOf(await rig.grep({ pattern: "needle 3" }, { processes: failing }))).toBe(
      `# src\n## └─ b.ts\n2:needle 3\n\n[${fallbackNote}]`,
    );
    const controller = new AbortController();
    const hanging = {
      run: ({ signal }: ProcessRequest) =>
        new Promise<{ exitCode: number; stopped: "aborted" }>((resolve) => {
          signal?.addEventListener("abort", () => resolve({ exitCode: 143, stopped: "aborted" }));
          controller.abort();
        }),
      shutdown: async () => {},
    };
    await expect(rig.grep({ pattern: "needle" }, { processes: hanging, signal: controller.signal })).rejects.toThrow(
      "Operation aborted",
    );
  });

  it("stops ripgrep when the limit is full, and searches with all threads what takes long", async () => {
    const files = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`many/${index}.ts`, "plenty\n"]));
    await rig.write(files);
    const sorted = (request: ProcessRequest) =>
      "args" in request.command && request.command.args.includes("--sort=path");
    const searching = (isFull: boolean) => {
      const ends: [isSorted: boolean, ProcessEnd["stopped"]][] = [];
      const run = async (request: ProcessRequest): Promise<ProcessEnd> => {
        // A sorted search goes on until it is stopped: the limit is full, or its moment is over.
        const end = new Promise<ProcessEnd>((resolve) => {
          request.signal?.addEventListener("abort", () => resolve({ exitCode: 143, stopped: "aborted" }));
        });
        if (!isFull) request.onStart?.(); // which begins the moment
        if (sorted(request) && !isFull) return end.then((each) => note(request, each));
        const { signal: _signal, onStart: _onStart, ...rest } = request;
        const real = await rig.processes.run(rest);
        return note(request, sorted(request) ? await end : real);
      };
      const note = (request: ProcessRequest, end: ProcessEnd) => {
        ends.push([sorted(request), end.stopped]);
        return end;
      };
      return { ends, processes: { run, shutdown: async () => {} } };
    };
    const answer =
      "# many\n## └─ 0.ts\n1:plenty\n## └─ 1.ts\n1:plenty\n\n[2 matches limit reached. Use limit=4 for more]";
    const full = searching(true);
    const slow = searching(false);
    const args = { pattern: "plenty", path: "many", limit: 2 };
    expect(textOf(await rig.grep(args, { processes: full.processes }))).toBe(answer);
    expect(textOf(await rig.grep(args, { processes: slow.processes }))).toBe(answer);
    expect(full.ends).toEqual([[true, "aborted"]]);
    expect(slow.ends).toEqual([
      [true, "aborted"],
      [false, undefined],
    ]);
    await rm(join(rig.cwd, "many"), { recursive: true });
  });

  it("says that a killed search is none", async () => {
    const killed = { run: async () => ({ exitCode: 137 }), shutdown: async () => {} };
    await expect(rig.grep({ pattern: "needle" }, { processes: killed })).rejects.toThrow("ended early (code 137)");
  });
});

describe("the fallback alone", () => {
  it("gives up on a pattern that would run for ever", async () => {
    await rig.write({ "aa.txt": `${"a".repeat(60)}b\n` });
    await expect(rig.grep({ pattern: "^(a+)+$", path: "aa.txt" }, { without: "ripgrep" })).rejects.toThrow(
      "Pattern takes too long to match; make it simpler.",
    );
    await rm(join(rig.cwd, "aa.txt"));
  });

  it("says that ignored files were not searched", async () => {
    const text = textOf(await rig.grep({ pattern: "needle 7", gitignore: false }, { without: "ripgrep" }));
    expect(text).toBe(`No matches found\n\n[Some files or directories could not be searched. ${fallbackNote}]`);
  });
});

it("tells programs what it found", async () => {
  expect(await rig.grep({ pattern: "needle", path: "a.ts", limit: 1 })).toMatchObject({
    details: {
      matchCount: 1,
      fileMatches: [{ path: "a.ts", count: 1 }],
      limitReached: true,
      meta: { limits: { matchLimit: 1 } },
    },
  });
  const none = await rig.grep({ pattern: "nothing at all" });
  expect(none).toMatchObject({ isWarning: true, content: [{ text: "No matches found" }], details: { matchCount: 0 } });
});

it("never shows more than fits", async () => {
  await rig.write({ "big.txt": `${"wide ".repeat(150)}\n`.repeat(200) });
  const result = await rig.grep({ pattern: "wide", path: "big.txt", limit: 200 });
  expect(Buffer.byteLength(textOf(result))).toBeLessThan(52_000);
  expect(textOf(result)).toMatch(/\[Showing lines 1-\d+ of 200 \(50KB limit\)\]$/);
  await rm(join(rig.cwd, "big.txt"));
});
