// Every transcript is played against the server, line by line and frame by frame.

import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { play } from "./kit/play-transcript.js";
import { serveInProcess } from "./kit/rpc-in-process.js";

const folder = new URL("transcripts/", import.meta.url);
const names = readdirSync(folder).filter((name) => name.endsWith(".transcript"));
const read = (name: string) => readFileSync(new URL(name, folder), "utf8");

describe("transcripts", () => {
  it.each(names)("%s", async (name) => {
    expect(await play(read(name))).toEqual({ code: 0, surplus: [], unlisted: [] });
  });

  it("the player notices a wrong frame, a missing one and one too many", async () => {
    const text = read("modes.transcript");
    await expect(play(text.replace('"success":true', '"success":false'))).rejects.toThrow("frame.success is true");
    await expect(play(`${text}\n< {"type":"response"}`, { patienceMs: 200 })).rejects.toThrow("No frame came");
    const lines = text.trimEnd().split("\n");
    expect((await play(lines.slice(0, -1).join("\n"))).surplus).toHaveLength(1);
  });

  it("a frame that a strict host refuses fails the next receive or close", async () => {
    const host = await serveInProcess();
    host.send('{"id":"1","type":"abort"}');
    host.strict.read("a stray line");
    await expect(host.receive()).rejects.toThrow("no JSON in a stray line");
    await expect(host.close()).rejects.toThrow("no JSON in a stray line");
  });
});
