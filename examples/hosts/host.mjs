// @ts-check
// A terminal host: reads prompts, shows what the agent says and does, asks before it goes on, stops a run with
// Ctrl-C, and survives a crash of the agent.
// Run: node examples/hosts/host.mjs

import { stdin, stdout } from "node:process";
import { createInterface } from "node:readline/promises";
import { fileURLToPath } from "node:url";
import { RpcClient, RpcError } from "galley/client";

// The program of the package that the client belongs to; `new RpcClient()` takes the galley on the PATH.
const cliPath = fileURLToPath(new URL("bin/galley.js", import.meta.resolve("galley/package.json")));
const client = new RpcClient({ cliPath });
const terminal = createInterface({ input: stdin, output: stdout });
const lines = terminal[Symbol.asyncIterator](); // from now on, so that no line is lost
let recovery = Promise.resolve();

client.on("message_update", ({ assistantMessageEvent: update }) => {
  if (update.type === "text_delta") stdout.write(update.delta);
});
client.on("tool_execution_start", ({ toolName, args }) => {
  stdout.write(`\n[${toolName}] ${JSON.stringify(args)}\n`);
});
client.on("tool_execution_end", ({ toolName, isError }) => {
  if (isError) stdout.write(`[${toolName}] failed\n`);
});
client.setUiHandlers({
  confirm: async ({ title, message }, { signal }) =>
    (await terminal.question(`\n${title}: ${message} [y/N] `, { signal })) === "y",
  select: async ({ title, options }, { signal }) => {
    const list = options.map((option, index) => `${index + 1}. ${option}`).join("\n");
    return options[Number(await terminal.question(`\n${title}\n${list}\n> `, { signal })) - 1];
  },
  input: ({ title }, { signal }) => terminal.question(`\n${title}: `, { signal }),
  notify: ({ message }) => stdout.write(`\n${message}\n`),
});
client.onExit(({ isExpected, stderr }) => {
  if (isExpected) return;
  stdout.write(`\nThe agent ended. ${stderr}`);
  recovery = client.restart().then((isSame) => {
    stdout.write(`It is back${isSame ? ", in the same session" : ""}.\n`);
  });
});
terminal.on("SIGINT", () => {
  if (client.isRunning) void client.abort();
});

await client.start();
const { model } = await client.getState();
stdout.write(`galley ${client.ready?.version}, ${model?.provider}/${model?.id}. An empty line ends.\n`);
stdout.write("> ");
for await (const line of lines) {
  if (line.trim() === "") break;
  await recovery;
  try {
    const { status, error } = await client.promptAndWait(line);
    if (status !== "completed") stdout.write(`\n(${status}) ${error?.message ?? ""}`);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    stdout.write(`\n(${error.kind}) ${error.message}`);
  }
  stdout.write("\n> ");
}
terminal.close();
await recovery;
await client.stop();
