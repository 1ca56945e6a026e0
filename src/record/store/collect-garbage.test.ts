import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { collectGarbage } from "./collect-garbage.js";
import { draftPath } from "./create-file.js";
import { header, linesOf } from "./store.test-kit.js";

const now = Date.UTC(2026, 5, 1);
const day = 24 * 60 * 60 * 1000;

function setUp() {
  const agent = temporaryDirectory();
  const [sessions, blobs] = [join(agent, "sessions"), join(agent, "blobs")];
  const write = (path: string, content: string, ageDays = 10) => {
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, content);
    const time = (now - ageDays * day) / 1000;
    utimesSync(path, time, time);
    return path;
  };
  const blob = (content: string, ageDays?: number) => {
    const hash = createHash("sha256").update(content).digest("hex");
    write(join(blobs, hash), content, ageDays);
    return hash;
  };
  const image = (hash: string) => ({
    type: "message",
    message: { content: [{ type: "image", data: `blob:sha256:${hash}` }] },
  });
  const collect = () => collectGarbage({ sessionRoots: [sessions], blobs, now });
  return { sessions, blobs, write, blob, image, collect };
}

it("removes old blobs that no file names, and only those", async () => {
  const { sessions, blobs, write, blob, image, collect } = setUp();
  const [named, backedUp, torn, unnamed, young] = [
    blob("named"),
    blob("bak"),
    blob("tail"),
    blob("gone"),
    blob("young", 0),
  ];
  write(join(sessions, "-x", "a.jsonl"), linesOf(header, image(named)));
  write(join(sessions, "-x", "a.jsonl.v1.bak"), linesOf(image(backedUp)));
  write(join(sessions, "-x", "a.jsonl.tail"), JSON.stringify(image(torn)).slice(0, -5));
  write(join(blobs, "README"), "not a blob");
  expect(await collect()).toEqual({
    removedBlobs: 1,
    removedPlans: 0,
    removedDrafts: 0,
    freedBytes: 4,
    keptBlobs: 4,
    problems: [],
  });
  expect(readdirSync(blobs).sort()).toEqual([named, backedUp, torn, young, "README"].sort());
  expect(unnamed).toHaveLength(64);
});

it("finds a name wherever the pieces of the reading are cut", async () => {
  const { sessions, write, blob, collect } = setUp();
  const hash = blob("named");
  const name = `blob:sha256:${hash}`;
  for (const [index, shift] of [0, 1, 12, 40, name.length - 1, name.length].entries())
    write(join(sessions, `${index}.jsonl`), `${"x".repeat(1024 * 1024 - shift)}${name}${"y".repeat(100)}`);
  expect(await collect()).toMatchObject({ removedBlobs: 0, keptBlobs: 1 });
});

it("removes no blob while a file cannot be read", async () => {
  const { sessions, write, blob, collect } = setUp();
  blob("gone");
  write(join(sessions, "a.jsonl"), linesOf(header));
  symlinkSync(temporaryDirectory(), join(sessions, "link.jsonl")); // reading a directory fails for everybody, root too
  const report = await collect();
  expect(report).toMatchObject({ removedBlobs: 0, keptBlobs: 1 });
  expect(report.problems).toEqual([expect.stringContaining("link.jsonl: EISDIR")]);
});

it("removes plans settled thirty days ago, and drafts of long ago", async () => {
  const { sessions, blobs, write, collect } = setUp();
  const entry = (id: string, event: string, ageDays: number) => ({
    type: "custom",
    customType: "pending_action",
    timestamp: new Date(now - ageDays * day).toISOString(),
    data: { event, id },
  });
  const revised = (id: string, planRef: string) => {
    const { data, ...rest } = entry(id, "revised", 55);
    return { ...rest, data: { ...data, planRef } };
  };
  const file = join(sessions, "-x", "a.jsonl");
  write(
    file,
    linesOf(
      header,
      entry("old", "pushed", 60),
      revised("old", "old.2.plan"),
      revised("old", "../x.2.plan"),
      entry("old", "settled", 50),
      revised("open", "open.2.plan"),
      entry("new", "settled", 3),
      entry("open", "pushed", 90),
      entry("again", "settled", 90),
      entry("again", "pushed", 80),
      entry("../../x", "settled", 90),
      { ...entry("open", "settled", 90), timestamp: { toString: 1 } },
    ),
  );
  for (const id of ["old", "old.2", "new", "open", "open.2", "again"])
    write(join(sessions, "-x", "a", `${id}.plan`), id);
  const young = draftPath(join(sessions, "-x", "c.jsonl"));
  write(draftPath(join(sessions, "-x", "b.jsonl")), "half");
  write(young, "half", 0);
  write(join(blobs, `.${"0".repeat(64)}.1-k3x.tmp`), "half");
  for (const name of ["1.bash.log", "p-1.plan", "p-1.rest.plan", "p-1.2.plan"])
    write(join(sessions, "-x", "a", `.${name}.77-0abc.tmp`), "half");
  expect(await collect()).toMatchObject({ removedPlans: 2, removedDrafts: 6, problems: [] });
  expect(readdirSync(join(sessions, "-x", "a")).sort()).toEqual(["again.plan", "new.plan", "open.2.plan", "open.plan"]);
  expect(readdirSync(join(sessions, "-x")).sort()).toEqual([basename(young), "a", "a.jsonl"]);
});

it("knows a draft by its whole name: in a directory that the user chose, other files are left alone", async () => {
  const { sessions, blobs, write, collect } = setUp();
  const theirs = [".notes.tmp", ".b.tmp", ".todo.12-ab.tmp", ".my.plan.tmp", ".deadbeef.tmp", ".a.log.1-2.tmp"];
  for (const directory of [sessions, join(sessions, "deep"), blobs])
    for (const name of theirs) write(join(directory, name), "precious");
  expect(await collect()).toMatchObject({ removedDrafts: 0, freedBytes: 0, problems: [] });
  for (const directory of [join(sessions, "deep"), blobs]) expect(readdirSync(directory).sort()).toEqual(theirs.sort());
});

it("has nothing to do where there is nothing", async () => {
  const { collect } = setUp();
  expect(await collect()).toMatchObject({ removedBlobs: 0, keptBlobs: 0, problems: [] });
});
