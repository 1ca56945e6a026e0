// @ts-check
// Every change waits for the user: the session stages it, this program shows the diff and asks.
// Run: node examples/sdk/review.mjs 'replace console.log($A) with console.info($A) in examples/hello'

import { stdin, stdout } from "node:process";
import { createInterface } from "node:readline";
import { createAgentSession, GalleyError } from "galley";

const { session } = await createAgentSession({ assignments: [{ key: "staging", value: "all" }] });
const terminal = createInterface({ input: stdin });
const lines = terminal[Symbol.asyncIterator](); // from now on, so that no line is lost

await session.prompt(process.argv.slice(2).join(" ") || "help");
const pending = await session.getPendingActions({ diff: true });
if (pending.length === 0) console.log(session.getLastAssistantText() ?? session.lastOutcome.error?.message);

for (const { id, label, files = [] } of pending) {
  console.log(`${label}\n${files.map(({ diff }) => diff).join("")}`);
  stdout.write("Write it? [y/N] ");
  const { value: answer } = await lines.next();
  const action = answer === "y" ? "apply" : "discard";
  try {
    const { text } = await session.resolvePendingAction({ action, reason: "reviewed", by: "user", pendingId: id });
    console.log(text);
  } catch (error) {
    if (!(error instanceof GalleyError)) throw error;
    console.log(`${error.code}: ${error.message}`); // for example because a file changed meanwhile
    process.exitCode = 1;
  }
}
terminal.close();
await session.dispose();
