// A process that writes to sessions as it is told: one command per line on stdin, what happened on stdout. It tells an
// entry only once the session says that it is written ("w") or safe on the disk ("s"), and tells it without delay.

import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";

const [module, agentDir] = process.argv.slice(2);
const { SessionManager } = await import(module);
const options = { cwd: agentDir, agentDir, home: agentDir };
const tell = (...words) => writeSync(1, `${words.join(" ")}\n`);
const message = (text, size) => ({
  role: "user",
  content: [{ type: "text", text: `${text} ${"lorem ".repeat(Math.ceil(size / 6))}` }],
  timestamp: Date.now(),
});

const commands = {
  /** Appends until it is killed. Sizes go round, from a few bytes to many pages. */
  async run(path) {
    const session = await SessionManager.open(path, options);
    tell("open", session.tree.entries.length, session.readOnlyReason ? "readOnly" : "held");
    const sizes = [10, 200, 3_000, 40, 70_000, 900, 300_000];
    for (let index = 0; ; index++) {
      const { id } = session.appendMessage(message(`${process.pid}`, sizes[index % sizes.length]));
      await session.flush();
      if (session.persistError) return tell("failed", session.persistError);
      tell("w", id);
      if (index % 3 !== 2) continue;
      await session.sync();
      if (session.persistError) return tell("failed", session.persistError);
      tell("s", id);
    }
  },

  /** Opens, appends a few entries wherever that is possible, and closes. A marker shows up two holders at once. */
  async contend(path, round) {
    const session = await SessionManager.open(path, options);
    const ids = [session.appendMessage(message(`${process.pid}`, 500)).id];
    await session.flush();
    const isHolder = session.sessionFile === path;
    const marker = `${path}.holder`;
    if (isHolder && !mark(marker)) tell("double", round);
    for (let index = 0; index < 4; index++) {
      ids.push(session.appendMessage(message(`${process.pid}`, 500)).id);
      await new Promise(setImmediate);
    }
    await session.sync();
    if (isHolder) rmSync(marker, { force: true });
    await session.close();
    tell(
      "done",
      round,
      isHolder ? "holder" : "other",
      session.sessionFile,
      session.persistError ? "failed" : ids.join(),
    );
  },
};

function mark(path) {
  try {
    closeSync(openSync(path, "wx"));
    return true;
  } catch {
    return false;
  }
}

tell("ready");
for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...words] = line.split(" ");
  await commands[name](...words);
}
