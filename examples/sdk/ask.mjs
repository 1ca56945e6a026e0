// @ts-check
// One prompt, and the answer as it comes. Exit code 1 if the model failed.
// Run: node examples/sdk/ask.mjs 'show README.md'

import { stderr, stdout } from "node:process";
import { createAgentSession } from "galley";

const { session } = await createAgentSession();
session.subscribe((event) => {
  if (event.type === "tool_execution_start") stderr.write(`[${event.toolName}] ${JSON.stringify(event.args)}\n`);
  if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta")
    stdout.write(event.assistantMessageEvent.delta);
});

await session.prompt(process.argv.slice(2).join(" ") || "help");
stdout.write("\n");
const { status, error } = session.lastOutcome;
if (status !== "completed") {
  stderr.write(`${status}: ${error?.message ?? ""}\n`);
  process.exitCode = 1;
}
await session.dispose();
