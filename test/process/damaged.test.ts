// What a broken disk or another program did to galley's own files is told, and never looks like nothing: plans, undo
// records, sessions.

import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { HelloProject } from "../kit/hello-project.js";
import { ensureBuilt } from "../kit/rpc-host.js";

beforeAll(ensureBuilt, 150_000);

let project: HelloProject;
beforeEach(() => {
  project = new HelloProject();
  project.renew();
});
afterEach(() => project.remove());
const galley = (...words: string[]) => project.galley(...words);
const json = (...words: string[]) => project.json(...words);

const below = (ending: string) =>
  readdirSync(join(project.home, ".galley/agent"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(project.home, ".galley/agent", name));

const file = (ending: string) => {
  const [path, ...others] = below(ending);
  if (path === undefined || others.length > 0) throw new Error(`${others.length + 1} files end in ${ending}`);
  return path;
};

/** Two characters in the middle of the longest base64 text. */
function changeBytes(text: string): string {
  const [longest = ""] = [...text.matchAll(/"after":"([^"]+)"/g)]
    .map(([, bytes = ""]) => bytes)
    .sort((a, b) => b.length - a.length);
  const at = text.indexOf(longest) + Math.floor(longest.length / 2);
  const other = (char: string) => (char === "A" ? "B" : "A");
  return text.slice(0, at) + other(text.charAt(at)) + other(text.charAt(at + 1)) + text.slice(at + 2);
}

describe("a plan", () => {
  it.each([
    ["two characters of its bytes changed", changeBytes],
    ["a character that is no base64", (text: string) => text.replace(/"after":"./, '"after":"!')],
    ["cut", (text: string) => text.slice(0, text.length / 2)],
    ["empty", () => ""],
  ])("with %s is listed as damaged and never applied", async (_name, damage) => {
    await project.preview();
    const before = readFileSync(join(project.cwd, "hello/greet.ts"), "utf8");
    const path = file(".plan");
    writeFileSync(path, damage(readFileSync(path, "utf8")));
    const listed = await galley("pending");
    expect([listed.code, listed.stdout]).toEqual([3, expect.stringMatching(/^pa_1 .*damaged \(its plan is damaged: /)]);
    expect(await json("pending")).toMatchObject({
      actions: [{ id: "pa_1", damage: expect.stringMatching(/damaged/) }],
    });
    expect((await galley("show", "pa_1")).code).toBe(3);
    for (const words of [
      ["apply", "pa_1"],
      ["apply", "--all"],
      ["apply", "pa_1", "hello/greet.ts"],
    ]) {
      const refused = await galley(...words);
      expect(refused.code).not.toBe(0);
      expect(refused.stderr).toContain("pa_1");
    }
    expect(readFileSync(join(project.cwd, "hello/greet.ts"), "utf8")).toBe(before);
    const doctor = await galley("doctor");
    expect([doctor.code, doctor.stdout]).toEqual([3, expect.stringMatching(/^problem {2}records +.*pa_1/m)]);
    expect((await galley("discard", "pa_1")).code).toBe(0);
    expect((await galley("pending")).stdout).toBe("Nothing pending.\n");
  });

  it("that is gone is listed too", async () => {
    await project.preview();
    await project.preview("shout($A)", "loud($A)", "--continue");
    rmSync(below("pa_1.plan")[0] as string);
    expect((await galley("pending")).stdout).toMatch(/^pa_1 .*damaged \(its plan is damaged: it is not there\)/m);
    expect((await galley("apply", "pa_2")).code).toBe(0);
    expect((await galley("pending")).code).toBe(3);
  });
});

describe("an undo record", () => {
  it.each([
    ["a changed byte", (text: string) => changeBytes(text.replaceAll('"bytes":"', '"after":"'))],
    ["no end", (text: string) => text.slice(0, text.length - 40)],
    ["nothing in it", () => ""],
  ])("with %s is listed as damaged, and nothing is undone", async (_name, damage) => {
    await project.preview();
    await galley("apply", "pa_1");
    const after = readFileSync(join(project.cwd, "hello/greet.ts"), "utf8");
    const path = file(".gu");
    writeFileSync(path, damage(readFileSync(path, "utf8")));
    const listed = await galley("changes");
    expect([listed.code, listed.stdout]).toEqual([3, expect.stringMatching(/^ch_[0-9a-f]{8} {2}damaged \(/m)]);
    const id = /ch_[0-9a-f]{8}/.exec(listed.stdout)?.[0] ?? "";
    for (const words of [["undo"], ["undo", id]]) {
      const refused = await galley(...words);
      expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining(`the record of ${id} is damaged`)]);
    }
    expect(readFileSync(join(project.cwd, "hello/greet.ts"), "utf8")).toBe(after);
    expect((await galley("doctor")).stdout).toMatch(/^problem {2}records +.*ch_/m);
  });
});

describe("a session file", () => {
  it.each([
    ["a broken first line", (text: string) => `x${text.slice(1)}`],
    ["nothing in it", () => ""],
    [
      "a broken line where the preview is on record",
      (text: string) => text.replace('"event":"pushed"', '"event":pushed'),
    ],
  ])("with %s is told where its previews would be listed", async (_name, damage) => {
    await project.preview();
    const path = file(".jsonl");
    writeFileSync(path, damage(readFileSync(path, "utf8")));
    const listed = await galley("pending");
    expect([listed.code, listed.stdout]).toEqual([3, expect.stringContaining("damaged (")]);
    expect((await galley("doctor")).stdout).toMatch(/^problem {2}records +.*\.jsonl/m);
  });
});
