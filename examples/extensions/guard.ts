// Asks before a shell command deletes or publishes something. Where the user cannot be asked, the command does not run.

import type { ExtensionFactory } from "galley";

const risky = [/\brm\s+-\w*[rf]/, /\bgit\s+push\b/, /\bnpm\s+publish\b/];

const factory: ExtensionFactory = (pi) => {
  let asked = 0;

  pi.on("tool_call", async ({ toolName, input }, ctx) => {
    const command = String(input.command ?? "");
    if (toolName !== "bash" || !risky.some((pattern) => pattern.test(command))) return undefined;
    asked++;
    const isFine = await ctx.ui.confirm("Run this command?", command, { signal: ctx.signal });
    return isFine ? undefined : { block: true, reason: `Not allowed: ${command}. Ask the user what to do instead.` };
  });

  pi.registerCommand("guard", {
    description: "Says how often the guard asked",
    handler: (_args, ctx) => ctx.ui.notify(`The guard asked ${asked} times`, "info"),
  });
};

// biome-ignore lint/style/noDefaultExport: this is how a module hands over its factory
export default factory;
