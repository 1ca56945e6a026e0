// One piece of work on session files, in a process of its own so that its memory can be told apart:
// `node session-work.mjs TASK PATH [COUNT]` prints {ms, peakMiB, …} as JSON.

import { readFileSync } from "node:fs";
import { SessionIndex, SessionManager } from "../../dist/sdk.js";

const [, , task, path, count = "0"] = process.argv;
const places = { cwd: "/bench", agentDir: `${path}.agent` };
const message = (text) => ({ role: "user", content: [{ type: "text", text }], timestamp: 1 });

const tasks = {
  /** The least: read it, parse every line, keep the messages. */
  floor() {
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    const messages = lines.map((line) => JSON.parse(line)).filter(({ type }) => type === "message");
    return { messages: messages.length };
  },
  async open() {
    const session = await SessionManager.open(path, places);
    return { messages: session.context.messages.length };
  },
  async list() {
    const found = await new SessionIndex().list([path]);
    return { found: found.length };
  },
  /** A session that already has `count` entries gets 2,000 more; only those are timed. */
  async append() {
    const session = SessionManager.create({ ...places, directory: path });
    for (let made = 0; made < Number(count); made++) session.append({ type: "message", message: message("early") });
    await session.flush();
    return { before: performance.now(), session };
  },
};

const startedAt = performance.now();
const outcome = await tasks[task]();
let ms = performance.now() - startedAt;
if (outcome.session) {
  for (let made = 0; made < 2000; made++) outcome.session.append({ type: "message", message: message("late") });
  await outcome.session.flush();
  ms = performance.now() - outcome.before;
  await outcome.session.close();
}
const peakMiB = Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]) / 1024;
const { messages, found } = outcome;
process.stdout.write(JSON.stringify({ ms, peakMiB, messages, found }), () => process.exit(0));
