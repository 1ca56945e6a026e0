// `!cmd` runs a command beside the agent and shows it as a block; `!!cmd` keeps it out of what the model is told.

import type { ToolItem } from "../chat/chat-log.js";
import type { TerminalApp } from "../terminal-app.js";

const maxShownLength = 200_000;

/** `line` begins with an exclamation mark. */
export async function runBash(app: TerminalApp, line: string): Promise<void> {
  const excludeFromContext = line.startsWith("!!");
  const command = line.replace(/^!!?/, "").trim();
  if (command === "") return app.notice("info", "!cmd runs a command, !!cmd keeps it from the model.");
  const item: ToolItem = {
    kind: "tool",
    callId: "",
    name: excludeFromContext ? "!!" : "!",
    args: { command },
    state: "running",
    startedAt: app.look.now(),
    isFinal: false,
  };
  app.addBlock(item);
  let output = "";
  const show = (text: string) => {
    output = (output + text).slice(-maxShownLength);
    item.result = { content: [{ type: "text", text: output }], details: undefined };
    app.draw();
  };
  const ticker = setInterval(() => app.draw(), 200);
  try {
    const result = await app.session.executeBash(command, show, { excludeFromContext });
    output = "";
    const code = result.cancelled ? "\n(stopped)" : result.exitCode ? `\n(exit code ${result.exitCode})` : "";
    show(`${result.output.trimEnd()}${code}`);
    item.state = result.cancelled || result.exitCode ? "failed" : "done";
  } catch (error) {
    item.state = "failed";
    throw error;
  } finally {
    clearInterval(ticker);
    item.endedAt = app.look.now();
    item.isFinal = true;
    app.draw();
  }
}
