// A host in the same process whose frames a test takes by what they are, in any order.

import type { OpenSessionOptions } from "../../src/testing/open-session.js";
import { type InProcessHost, serveInProcess } from "./rpc-in-process.js";

export type HostFrame = { type: string; id?: unknown; [member: string]: unknown };

export interface AnsweringHost extends InProcessHost {
  tell(...frames: object[]): void;
  /** The next frame with these members that nobody has taken. */
  next(members: Record<string, unknown>): Promise<HostFrame>;
  /** Sends a command and takes its response. */
  ask(command: Record<string, unknown> & { type: string }): Promise<HostFrame>;
  /** The texts of the tool results so far. */
  results(): string[];
}

export async function answeringHost(options: OpenSessionOptions & { hasUI?: boolean } = {}): Promise<AnsweringHost> {
  const host = await serveInProcess(options, 20_000); // the first call of a process loads a compiler
  const kept: HostFrame[] = [];
  let count = 0;
  const tell = (...frames: object[]) => {
    for (const frame of frames) host.send(JSON.stringify(frame));
  };
  const next = async (members: Record<string, unknown>) => {
    const fits = (frame: HostFrame) => Object.entries(members).every(([key, value]) => frame[key] === value);
    for (;;) {
      const index = kept.findIndex(fits);
      if (index !== -1) return kept.splice(index, 1)[0] as HostFrame;
      kept.push((await host.receive()) as HostFrame);
    }
  };
  return {
    ...host,
    tell,
    next,
    ask(command) {
      const id = `ask_${++count}`;
      tell({ id, ...command });
      return next({ type: "response", id });
    },
    results: () =>
      host.open.session.messages.flatMap((message) =>
        message.role === "toolResult"
          ? message.content.map((block) => (block.type === "text" ? block.text : "(image)"))
          : [],
      ),
  };
}
