// The calls for many files answer as the others do, whatever lies there.

import { execFileSync } from "node:child_process";
import { mkdir, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import type { BulkDisk } from "./disk.js";
import { createBulkDisk } from "./node-bulk-disk.js";
import { nodeDisk } from "./node-disk.js";

let inBulk: BulkDisk;
let directory = "";
const at = (name: string) => join(directory, name);

beforeEach(async () => {
  directory = temporaryDirectory();
  inBulk = await bulkAt(directory);
});

const bulkAt = async (path: string) => nodeDisk.inBulk({ path, identity: (await nodeDisk.lstat(path)).identity });
const outcome = <T>(work: Promise<T>) => work.catch(({ code }: { code: string }) => code);

it.each([
  ["short", ""],
  ["long", "x".repeat(200)],
])("lists the names and kinds of a %s directory, no more than asked for", async (_, ending) => {
  await mkdir(at("d"));
  await symlink("d", at("l"));
  execFileSync("mkfifo", [at("p")]);
  for (let index = 0; index < 600; index++) await writeFile(at(`f${index}${ending}`), "");
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
  const [many, few] = [await inBulk.list(directory, 1000), await inBulk.list(directory, 5)];
  expect(many.toSorted(byName)).toEqual((await nodeDisk.list(directory, 1000)).toSorted(byName));
  expect([many.length, few.length]).toEqual([603, 5]);
  for (const name of [`f1${ending}`, "none"])
    expect(await outcome(inBulk.list(at(name), 9))).toBe(await outcome(nodeDisk.list(at(name), 9)));
});

it("lists in parts where the size of a directory tells nothing", async () => {
  const { list } = createBulkDisk(nodeDisk.read, { hasSizedDirectories: false });
  for (const name of ["a", "b", "c"]) await mkdir(at(name));
  expect((await list(directory, 9)).map(({ name }) => name).sort()).toEqual(["a", "b", "c"]);
  expect(await list(directory, 2)).toHaveLength(2);
});

it("looks at many paths, whatever became of some of them", async () => {
  await writeFile(at("f"), "x");
  await symlink("f", at("l"));
  const paths = ["f", "none", "f/below", "l", "."].map(at);
  const expected = await Promise.all(
    paths.map((path) =>
      nodeDisk.lstat(path).then(
        ({ kind, identity, sizeBytes }) => ({ kind, identity, sizeBytes }),
        () => undefined,
      ),
    ),
  );
  expect(expected.map((stat) => stat?.kind)).toEqual(["file", undefined, undefined, "link", "directory"]);
  expect(await inBulk.lstatAll(paths)).toEqual(expected);
  expect(await (await bulkAt("/proc")).lstatAll(paths)).toMatchObject(expected);
});

it("tells when many were changed, and only where that is quick", async () => {
  await writeFile(at("f"), "x");
  await utimes(at("f"), 1e9, 1_234_567.25);
  expect(await inBulk.modifiedTimes?.(["none", "f"].map(at))).toEqual([undefined, 1_234_567_250]);
  expect((await bulkAt("/proc")).modifiedTimes).toBeUndefined();
});

it("looks at the path itself, and follows it, as the disk does", async () => {
  await writeFile(at("f"), "x");
  await symlink("f", at("l"));
  for (const name of ["f", "l", "."]) {
    expect(await inBulk.lstat(at(name))).toEqual(await nodeDisk.lstat(at(name)));
    expect(await inBulk.realpath(at(name))).toBe(await nodeDisk.realpath(at(name)));
  }
  expect(await outcome(inBulk.lstat(at("none")))).toBe("ENOENT");
  expect(await outcome(inBulk.realpath(at("none")))).toBe("ENOENT");
});

it("reads the very file that was checked, and no link", async () => {
  await writeFile(at("f"), "text");
  await symlink("f", at("l"));
  execFileSync("mkfifo", [at("p")]);
  const { identity } = await nodeDisk.lstat(at("f"));
  const all = { maxBytes: 100, isWanted: () => true };
  const read = (name: string, expected = identity) => outcome(inBulk.readIf(at(name), expected, all));
  expect(await read("f")).toEqual({ bytes: Buffer.from("text"), isTruncated: false });
  expect(await read("f", "1:2")).toBeUndefined();
  expect(await read("l")).toBe("ELOOP");
  expect(await read("p", (await nodeDisk.lstat(at("p"))).identity)).toBeUndefined();
  expect(await read("none")).toBe("ENOENT");
  const stopped = inBulk.readIf(at("f"), identity, { ...all, signal: AbortSignal.abort() });
  await expect(stopped).rejects.toMatchObject({ code: "aborted" });
});

it.each([0, 1, 99, 100, 101, 5 * 1024 * 1024])(
  "reads %i bytes if they are wanted, and no more than asked for",
  async (size) => {
    await writeFile(at("f"), "");
    await truncate(at("f"), size);
    const { identity } = await nodeDisk.lstat(at("f"));
    for (const maxBytes of [100, 6 * 1024 * 1024]) {
      const seen: number[] = [];
      const answers = [true, false].map(async (answer) => {
        const isWanted = ({ length }: Uint8Array) => seen.push(length) > 0 && answer;
        const read = await inBulk.readIf(at("f"), identity, { maxBytes, isWanted });
        return typeof read === "object" ? [read.bytes.length, read.isTruncated] : read;
      });
      const isTruncated = size > maxBytes;
      const whole = [Math.min(size, maxBytes), isTruncated];
      expect(await Promise.all(answers)).toEqual([whole, isTruncated ? whole : "unwanted"]);
      expect(seen).toEqual(isTruncated ? [] : [size, size]);
    }
  },
);

it("gives bytes that no later file overwrites", async () => {
  const read = async (name: string) => {
    await writeFile(at(name), name);
    const { identity } = await nodeDisk.lstat(at(name));
    return inBulk.readIf(at(name), identity, { maxBytes: 100, isWanted: () => true });
  };
  const first = await read("first");
  await read("other");
  expect(first).toEqual({ bytes: Buffer.from("first"), isTruncated: false });
});

it.runIf(process.platform === "linux")("reads what says to hold nothing", async () => {
  const { identity } = await nodeDisk.lstat("/proc/self/status");
  const isWanted = (bytes: Uint8Array) => Buffer.from(bytes).toString().startsWith("Name:");
  const read = await inBulk.readIf("/proc/self/status", identity, { maxBytes: 10_000, isWanted });
  expect(read).toMatchObject({ isTruncated: false });
});

it.runIf(process.platform === "linux")("blocks only where a file system of this machine answers", async () => {
  expect(inBulk.lstat).not.toBe(nodeDisk.lstat);
  const elsewhere = await bulkAt("/proc");
  expect([elsewhere.lstat, elsewhere.list]).toEqual([nodeDisk.lstat, nodeDisk.list]);
  const gone = await nodeDisk.inBulk({ path: at("none"), identity: "no such device:1" });
  expect(gone.lstat).toBe(nodeDisk.lstat);
});
