import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import type { AgentMessage } from "../../protocol/messages.js";
import { createDiskBlobs, createMemoryBlobs, resolveImages } from "./blobs.js";
import { ensureDirectory } from "./session-disk.js";

const bytes = Buffer.from("an image, as far as we know");
const hash = createHash("sha256").update(bytes).digest("hex");

function onDisk(alsoIn?: readonly string[]) {
  const directory = join(temporaryDirectory(), "blobs");
  const ensure = (path: string) => ensureDirectory(path, [], () => {});
  return { directory, blobs: createDiskBlobs({ directory, ...(alsoIn ? { alsoIn } : {}), ensureDirectory: ensure }) };
}

describe("a blob", () => {
  it("is named by its hash, for this user alone, and nothing else is left", async () => {
    const { blobs, directory } = onDisk();
    expect(await blobs.put(bytes)).toBe(`blob:sha256:${hash}`);
    expect(readdirSync(directory)).toEqual([hash]);
    expect(statSync(join(directory, hash)).mode & 0o777).toBe(0o600);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect((await blobs.get(`blob:sha256:${hash}`))?.equals(bytes)).toBe(true);
  });

  it("is not written again, but touched, so that it is not taken for garbage", async () => {
    const { blobs, directory } = onDisk();
    await blobs.put(bytes);
    const path = join(directory, hash);
    const { ino } = statSync(path);
    utimesSync(path, 1, 1);
    await blobs.put(bytes);
    expect(statSync(path).ino).toBe(ino);
    expect(statSync(path).mtimeMs).toBeGreaterThan(1_000_000);
  });

  it("of the wrong size is written again", async () => {
    const { blobs, directory } = onDisk();
    await blobs.put(bytes);
    truncateSync(join(directory, hash), 3);
    await blobs.put(bytes);
    expect(readFileSync(join(directory, hash)).equals(bytes)).toBe(true);
  });

  it("is put once by many who come at the same time", async () => {
    const { blobs, directory } = onDisk();
    await Promise.all(Array.from({ length: 20 }, () => blobs.put(bytes)));
    expect(readdirSync(directory)).toEqual([hash]);
  });

  it("that is missing, damaged or misnamed is no blob", async () => {
    const { blobs, directory } = onDisk();
    expect(await blobs.get(`blob:sha256:${hash}`)).toBeUndefined();
    await blobs.put(bytes);
    writeFileSync(join(directory, hash), "something else entirely, here");
    expect(await blobs.get(`blob:sha256:${hash}`)).toBeUndefined();
    for (const name of ["", hash, "blob:sha256:../../etc/passwd", `blob:sha256:${hash.toUpperCase()}`])
      expect(await blobs.get(name)).toBeUndefined();
  });

  it("is also found where older ones were kept", async () => {
    const shared = onDisk();
    await shared.blobs.put(bytes);
    const { blobs, directory } = onDisk([shared.directory]);
    expect((await blobs.get(`blob:sha256:${hash}`))?.equals(bytes)).toBe(true);
    expect(existsSync(directory)).toBe(false);
  });

  it("may live in memory", async () => {
    const blobs = createMemoryBlobs();
    const reference = await blobs.put(bytes);
    expect(reference).toBe(`blob:sha256:${hash}`);
    expect(await blobs.get(reference)).toBe(bytes);
    expect(await blobs.get("blob:sha256:nothing")).toBeUndefined();
  });
});

describe("resolveImages", () => {
  const image = (data: string) => ({ type: "image" as const, data, mimeType: "image/png" });
  const said = (data: string): AgentMessage => ({
    role: "user",
    content: [image(data), { type: "text", text: "x" }],
    timestamp: 1,
  });

  it("puts the bytes in, or a word where there are none", async () => {
    const blobs = createMemoryBlobs();
    const reference = await blobs.put(bytes);
    expect(await resolveImages(said(reference), blobs)).toEqual(said(bytes.toString("base64")));
    expect(await resolveImages(said(`blob:sha256:${"0".repeat(64)}`), blobs)).toEqual({
      role: "user",
      content: [
        { type: "text", text: "[image unavailable]" },
        { type: "text", text: "x" },
      ],
      timestamp: 1,
    });
  });

  it("leaves a message without references as it is", async () => {
    const message = said("AAAA");
    expect(await resolveImages(message, createMemoryBlobs())).toBe(message);
  });

  it("knows the images of mentioned files", async () => {
    const blobs = createMemoryBlobs();
    const mention = (data: string): AgentMessage => ({
      role: "fileMention",
      files: [
        { path: "a.png", content: "", image: image(data) },
        { path: "b", content: "x" },
      ],
      timestamp: 1,
    });
    expect(await resolveImages(mention(await blobs.put(bytes)), blobs)).toEqual(mention(bytes.toString("base64")));
    expect(await resolveImages(mention("blob:sha256:gone"), blobs)).toMatchObject({
      files: [
        { path: "a.png", content: "[image unavailable]" },
        { path: "b", content: "x" },
      ],
    });
  });
});
