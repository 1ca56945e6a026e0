import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { copyArtifacts, createDiskArtifacts, createMemoryArtifacts, maxMemoryBytes } from "./artifacts.js";
import { ensureDirectory } from "./session-disk.js";

const ensure = (path: string) => ensureDirectory(path, [], () => {});

function onDisk(directory = join(temporaryDirectory(), "s")) {
  return { directory, artifacts: createDiskArtifacts({ directory, ensureDirectory: ensure }) };
}

describe.each([
  ["on disk", () => onDisk().artifacts],
  ["in memory", createMemoryArtifacts],
])("artifacts %s", (_name, create) => {
  it("count up and read back", async () => {
    const artifacts = create();
    expect(await artifacts.save("bash", "one")).toBe("1");
    expect(await artifacts.save("read", "two")).toBe("2");
    expect(await artifacts.read("1")).toBe("one");
    expect(await artifacts.read("2")).toBe("two");
    expect(await artifacts.readBytes("2", 2)).toEqual({ bytes: Buffer.from("tw"), isTruncated: true });
    expect(await artifacts.readBytes("2", 3)).toEqual({ bytes: Buffer.from("two"), isTruncated: false });
    expect(await artifacts.readBytes("9", 3)).toBeUndefined();
  });

  it("do not know other ids", async () => {
    const artifacts = create();
    for (const id of ["1", "0", "", "-1", "x", "../x", "1.bash.log"]) expect(await artifacts.read(id)).toBeUndefined();
  });

  it("keep a plan for each pending action, the last one", async () => {
    const artifacts = create();
    await artifacts.savePlan("p1.plan", "first");
    await artifacts.savePlan("p1.plan", "second");
    expect(await artifacts.readPlan("p1.plan")).toBe("second");
    expect(await artifacts.readPlan("p2.plan")).toBeUndefined();
    await expect(async () => artifacts.savePlan("../p", "x")).rejects.toThrow("Not the name of a plan: ../p");
  });

  it("give everybody who saves at once a number of their own", async () => {
    const artifacts = create();
    const ids = await Promise.all(Array.from({ length: 20 }, (_, index) => artifacts.save(`tool${index}`, `${index}`)));
    expect(new Set(ids).size).toBe(20);
    for (const [index, id] of ids.entries()) expect(await artifacts.read(id)).toBe(`${index}`);
  });
});

describe.each([
  ["on disk", () => onDisk().artifacts],
  ["in memory", createMemoryArtifacts],
])("an artifact that grows %s", (_name, create) => {
  it("has what was written so far, and all of it in the end", async () => {
    const artifacts = create();
    const writer = await artifacts.open("bash");
    const text = "one 日本\n".repeat(5000);
    const bytes = Buffer.from(text);
    expect(writer.id).toBe("1");
    await writer.write(bytes.subarray(0, 10));
    expect(await artifacts.read("1")).toBe(bytes.subarray(0, 10).toString());
    for (let at = 10; at < bytes.length; at += 7777) await writer.write(bytes.subarray(at, at + 7777));
    await writer.write(new Uint8Array());
    await writer.close();
    expect(await artifacts.read("1")).toBe(text);
  });

  it("shares its numbers with the others", async () => {
    const artifacts = create();
    const writers = await Promise.all([artifacts.open("bash"), artifacts.save("read", "x"), artifacts.open("bash")]);
    const ids = writers.map((made) => (typeof made === "string" ? made : made.id));
    expect(ids.sort()).toEqual(["1", "2", "3"]);
    for (const made of writers) if (typeof made !== "string") await made.close();
  });
});

it("in memory does not take all of it, and makes room again", async () => {
  const artifacts = createMemoryArtifacts();
  const writer = await artifacts.open("bash");
  await writer.write(Buffer.alloc(maxMemoryBytes));
  await expect(writer.write(Buffer.from("x"))).rejects.toThrow("a session without a file has no room for more output");
  const next = await artifacts.open("bash");
  await next.write(Buffer.from("fits"));
  expect(await artifacts.read(next.id)).toBe("fits");
});

describe("on disk", () => {
  it("grow bit by bit without touching what is there", async () => {
    const { artifacts, directory } = onDisk();
    mkdirSync(directory, { recursive: true });
    const first = await artifacts.open("bash");
    writeFileSync(join(directory, "2.bash.log"), "another program's");
    const second = await artifacts.open("bash");
    const bytes = Buffer.from([0xff, 0x00, 0x1b, 0x0a]);
    await second.write(bytes);
    for (const writer of [first, second]) await writer.close();
    expect([first.id, second.id]).toEqual(["1", "3"]);
    expect(readFileSync(join(directory, "3.bash.log"))).toEqual(bytes);
    expect(readFileSync(join(directory, "2.bash.log"), "utf8")).toBe("another program's");
    expect(statSync(join(directory, "3.bash.log")).mode & 0o777).toBe(0o600);
  });

  it("lie beside the session, for this user alone", async () => {
    const { artifacts, directory } = onDisk();
    await artifacts.save("my tool/../x", "text");
    await artifacts.savePlan("p1.plan", "plan");
    expect(readdirSync(directory).sort()).toEqual(["1.my_tool____x.log", "p1.plan"]);
    expect(statSync(join(directory, "p1.plan")).mode & 0o777).toBe(0o600);
    expect(await artifacts.pathOf("1")).toBe(join(directory, "1.my_tool____x.log"));
    expect(await artifacts.pathOf("2")).toBeUndefined();
  });

  it("go on after the highest number there is", async () => {
    const { artifacts, directory } = onDisk();
    mkdirSync(directory, { recursive: true });
    for (const name of ["7.bash.log", "12.read.log", "999.plan", "40.txt"]) writeFileSync(join(directory, name), "x");
    expect(await artifacts.save("bash", "new")).toBe("13");
  });

  it("never overwrite one another", async () => {
    const { artifacts, directory } = onDisk();
    await artifacts.save("bash", "one");
    const other = onDisk(directory);
    writeFileSync(join(directory, "2.bash.log"), "another program's");
    expect(await artifacts.save("bash", "mine")).toBe("3");
    expect(await other.artifacts.save("bash", "theirs")).toBe("4");
    expect(readFileSync(join(directory, "2.bash.log"), "utf8")).toBe("another program's");
  });

  it("are copied without the plans", async () => {
    const { artifacts, directory } = onDisk();
    await artifacts.save("bash", "one");
    await artifacts.savePlan("p1.plan", "plan");
    const target = join(temporaryDirectory(), "t");
    await copyArtifacts(directory, target, ensure);
    await copyArtifacts(directory, target, ensure); // once more does no harm
    expect(readdirSync(target)).toEqual(["1.bash.log"]);
    await copyArtifacts(join(target, "nothing"), join(target, "there"), ensure);
    expect(readdirSync(target)).toEqual(["1.bash.log"]);
  });
});
