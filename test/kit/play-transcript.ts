// Sets the stage that a transcript asks for and plays it against the server, in one process.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { silentLog } from "../../src/base/log.js";
import { Settings, type SettingsOptions } from "../../src/config/settings/settings.js";
import { createNodeProcesses } from "../../src/processes/node-processes.js";
import type { CreateAgentSessionOptions, ExtensionFactory } from "../../src/sdk/index.js";
import { parseRule } from "../../src/session/rules/rule.js";
import { scriptedProviderModel } from "../../src/testing/open-session.js";
import { parseTranscript, playTranscript, type Transcript } from "../../src/testing/transcript.js";
import { serveInProcess } from "./rpc-in-process.js";
import { temporaryDirectory } from "./temporary-directory.js";

export interface PlayOptions {
  patienceMs?: number;
  /** How the bytes of a line reach the server; default: in one piece. */
  cut?: (line: Buffer) => readonly Uint8Array[];
}

export interface Played {
  /** The exit code, what came beyond the script, and what no table of hosts names. */
  code: number;
  surplus: readonly unknown[];
  unlisted: readonly string[];
}

/** Rejects with the line that did not hold, and for a frame that a strict host refuses. */
export async function play(text: string, { patienceMs, cut }: PlayOptions = {}): Promise<Played> {
  const transcript = parseTranscript(text);
  const disk = transcript.isOnDisk ? onDisk(transcript.files) : undefined;
  try {
    const session = { ...(await sessionOf(transcript)), ...disk?.session };
    const { model, files, extension } = transcript;
    const host = await serveInProcess(
      { model, files, session, ...(disk ? { onDisk: true } : {}), hasUI: extension !== undefined },
      patienceMs,
    );
    const send = (line: string) => {
      if (cut) for (const piece of cut(Buffer.from(`${line}\n`))) host.sendBytes(piece);
      else host.send(line);
    };
    await playTranscript(transcript, { ...host, send });
    host.open.model.verify();
    return { code: await host.close(), surplus: host.unread, unlisted: [...host.strict.unlisted] };
  } finally {
    disk?.remove();
  }
}

async function sessionOf({ settings, rules, extension, thinks }: Transcript): Promise<CreateAgentSessionOptions> {
  const overrides = new Map(Object.entries(settings)) as NonNullable<SettingsOptions["overrides"]>;
  const parsed = await Promise.all(
    Object.entries(rules).map(([name, text]) => parseRule({ path: `rules/${name}.md`, text }, silentLog)),
  );
  const streamRules = parsed.flatMap((rule) => (rule?.kind === "stream" ? [rule.rule] : []));
  const factory = extension && ((await import(`../fixtures/${extension}.ts`)) as { default: ExtensionFactory }).default;
  return {
    settings: new Settings({ overrides }),
    ...(thinks ? { model: { ...scriptedProviderModel, reasoning: true } } : {}),
    loadRules: async () => streamRules,
    ...(factory ? { extensions: [factory] } : {}),
  };
}

function onDisk(files: Record<string, string>) {
  const cwd = temporaryDirectory();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  const processes = createNodeProcesses({ env: process.env, log: silentLog });
  const agentDir = join(cwd, ".agent");
  return {
    session: { cwd, agentDir, processes },
    remove: () => rmSync(cwd, { recursive: true, force: true }),
  };
}
