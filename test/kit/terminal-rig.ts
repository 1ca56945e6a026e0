// The terminal program in tmux with a model that plays a script: a home, a project, a terminal.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { type Reply, type ScriptedServer, startScriptedServer } from "../../src/testing/index.js";
import { modelsAt } from "./rpc-host.js";
import { emptyHome } from "./run-galley.js";
import { TmuxTerminal } from "./tmux.js";

export interface TerminalRig {
  readonly home: string;
  readonly agentDir: string;
  /** The project. */
  readonly cwd: string;
  readonly terminal: TmuxTerminal;
  readonly server: ScriptedServer;
  write(path: string, text: string): void;
  /** The first session again, so many times, each with a first message of its own. */
  copySessions(count: number, text: (index: number) => string): void;
  /** The texts of the user's messages in each request. */
  said(): string[][];
  /** What is in the session files, one list of entries for each, the oldest file first. */
  sessions(): { readonly type: string; readonly message?: { readonly role: string; readonly content?: unknown } }[][];
}

export async function createTerminalRig(
  replies: readonly Reply[],
  { columns, rows, args }: { columns?: number; rows?: number; args?: readonly string[] } = {},
): Promise<TerminalRig> {
  const { home, env } = emptyHome();
  const agentDir = join(home, ".galley/agent");
  const cwd = join(home, "shop");
  mkdirSync(agentDir, { recursive: true });
  mkdirSync(cwd);
  const server = await startScriptedServer(replies);
  onTestFinished(() => server.close().catch(() => {})); // tests that care call `verify`
  writeFileSync(join(agentDir, "models.yml"), modelsAt(server.url));
  const terminal = new TmuxTerminal({
    cwd,
    env,
    ...(columns === undefined ? {} : { columns }),
    ...(rows === undefined ? {} : { rows }),
  });
  if (args) terminal.galley(...args);
  return {
    home,
    agentDir,
    cwd,
    terminal,
    server,
    write(path, text) {
      const whole = join(cwd, path);
      mkdirSync(dirname(whole), { recursive: true });
      writeFileSync(whole, text);
    },
    copySessions(count, text) {
      const [file = ""] = filesBelow(join(agentDir, "sessions"));
      const [header = "", ...lines] = readFileSync(file, "utf8").trimEnd().split("\n");
      const { id, ...rest } = JSON.parse(header) as { id: string };
      for (let index = 0; index < count; index++) {
        const name = id.slice(0, -6) + index.toString(16).padStart(6, "0");
        const body = lines.join("\n").replaceAll("the first of many", text(index));
        const header = JSON.stringify({ type: "session", id: name, ...rest });
        writeFileSync(file.replace(id, name), `${header}\n${body}\n`);
      }
    },
    said: () => server.requests.map(({ body }) => userTexts(body)),
    sessions: () =>
      filesBelow(join(agentDir, "sessions"))
        .sort()
        .map((path) =>
          readFileSync(path, "utf8")
            .trimEnd()
            .split("\n")
            .map((line) => JSON.parse(line)),
        ),
  };
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => join(directory, name));
}

function userTexts(body: unknown): string[] {
  const { messages } = body as { messages: { role: string; content: unknown }[] };
  return messages.filter(({ role }) => role === "user").map(({ content }) => textOf(content));
}

export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return (content as { text?: string }[]).map(({ text = "" }) => text).join("");
}
