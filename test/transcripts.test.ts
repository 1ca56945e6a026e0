// Every transcript is played against the server, line by line and frame by frame.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { silentLog } from "../src/base/log.js";
import { parseTranscript, playTranscript } from "../src/testing/transcript.js";
import { createNodeProcesses } from "../src/workspace/node-processes.js";
import { createNodeWorkspace } from "../src/workspace/node-workspace.js";
import { serveInProcess } from "./rpc-in-process.js";

const folder = new URL("transcripts/", import.meta.url);
const names = readdirSync(folder).filter((name) => name.endsWith(".transcript"));

async function play(text: string, patienceMs?: number): Promise<void> {
  const transcript = parseTranscript(text);
  const stage = transcript.isOnDisk ? onDisk(transcript.files) : undefined;
  try {
    const host = await serveInProcess({ ...transcript, ...(stage ? { session: stage.session } : {}) }, patienceMs);
    await playTranscript(transcript, host);
    host.open.model.verify();
    expect(await host.close()).toBe(0);
    expect(host.unread).toEqual([]); // nothing that the transcript does not tell
  } finally {
    stage?.remove();
  }
}

function onDisk(files: Record<string, string>) {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "galley-transcript-")));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  const processes = createNodeProcesses({ env: process.env, log: silentLog });
  const agentDir = join(cwd, ".agent");
  return {
    session: { cwd, agentDir, workspace: createNodeWorkspace({ cwd, agentDir }), processes },
    remove: () => rmSync(cwd, { recursive: true, force: true }),
  };
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
