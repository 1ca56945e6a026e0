// Every transcript is played against the server, line by line and frame by frame.

import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseTranscript, playTranscript } from "../src/testing/transcript.js";
import { serveInProcess } from "./rpc-in-process.js";

const folder = new URL("transcripts/", import.meta.url);
const names = readdirSync(folder).filter((name) => name.endsWith(".transcript"));

async function play(text: string, patienceMs?: number): Promise<void> {
  const transcript = parseTranscript(text);
  const host = await serveInProcess(transcript, patienceMs);
  await playTranscript(transcript, host);
  host.open.model.verify();
  expect(await host.close()).toBe(0);
  expect(host.unread).toEqual([]); // nothing that the transcript does not tell
}

describe("transcripts", () => {
  it.each(names)("%s", (name) => play(readFileSync(new URL(name, folder), "utf8")));

  it("the player notices a wrong frame, a missing one and one too many", async () => {
    const text = readFileSync(new URL("modes.transcript", folder), "utf8");
    await expect(play(text.replace('"success":true', '"success":false'))).rejects.toThrow("frame.success is true");
    await expect(play(`${text}\n< {"type":"response"}`, 200)).rejects.toThrow("No frame came");
    const lines = text.trimEnd().split("\n");
    await expect(play(lines.slice(0, -1).join("\n"))).rejects.toThrow();
  });
});
