// For tests of modules in a session: a home and a project of their own, and a session with a scripted model in them.

import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { logTo } from "../../src/base/log.js";
import type { CreateAgentSessionOptions } from "../../src/sdk/create-agent-session.js";
import { openSession } from "../../src/testing/open-session.js";
import type { ScriptStep } from "../../src/testing/scripted-model.js";
import { temporaryDirectory } from "./temporary-directory.js";

export type ModuleHome = ReturnType<typeof createModuleHome>;

/** In the session's workspace, which lies in memory; or the session works on the project directory. */
type Files = Record<string, string> | "on disk";

/** `remove` it after the test. Nothing of whoever runs the tests is found. */
export function createModuleHome() {
  const base = temporaryDirectory();
  const realHome = process.env.HOME;
  process.env.HOME = base;
  mkdirSync(join(base, "project"));
  return {
    base,
    put(path: string, text: string, mode?: number) {
      mkdirSync(dirname(join(base, path)), { recursive: true });
      writeFileSync(join(base, path), text);
      if (mode !== undefined) chmodSync(join(base, path), mode);
    },
    async open(model: readonly ScriptStep[], session: CreateAgentSessionOptions = {}, files: Files = {}) {
      const lines: string[] = [];
      const opened = await openSession({
        model,
        ...(files === "on disk" ? { onDisk: true } : { files }),
        session: {
          cwd: join(base, "project"),
          agentDir: join(base, ".galley/agent"),
          log: logTo((line) => void lines.push(line)),
          ...session,
        },
      });
      const texts = () =>
        opened.session.messages.flatMap((message) =>
          message.role === "toolResult"
            ? message.content.map((block) => (block.type === "text" ? block.text : ""))
            : [],
        );
      return { ...opened, lines, texts };
    },
    remove() {
      process.env.HOME = realHome;
    },
  };
}

/** A module with a tool that says something. */
export const said = (name: string, text: string) => `export default (pi) => ({
  name: "${name}", description: "Says something", parameters: pi.zod.object({}),
  execute: async () => ({ content: [{ type: "text", text: ${JSON.stringify(text)} }] }),
});`;
