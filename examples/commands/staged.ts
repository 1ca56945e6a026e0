// `/staged [what to look for]` makes a prompt of the changes that are staged in git. With nothing staged it says
// so, and the model is not asked.

import type { CustomCommandFactory } from "galley";

const maxDiff = 60_000;

const factory: CustomCommandFactory = (pi) => ({
  name: "staged",
  description: "Has the staged changes reviewed",
  async execute(args, ctx) {
    const { code, stdout, stderr } = await pi.exec("git", ["diff", "--staged"], { cwd: ctx.cwd, timeout: 10_000 });
    if (code !== 0) throw new Error(stderr.trim() || "git could not say what is staged");
    if (stdout.trim() === "") {
      ctx.ui.notify("Nothing is staged.", "info");
      return undefined;
    }
    const wish = args.length > 0 ? args.join(" ") : "mistakes";
    const shown = stdout.slice(0, maxDiff);
    const rest = stdout.length > maxDiff ? `\n[${stdout.length - maxDiff} more characters]` : "";
    return `Review these staged changes for ${wish}. Change nothing.\n\n${shown.trimEnd()}${rest}`;
  },
});

// biome-ignore lint/style/noDefaultExport: this is how a module hands over its factory
export default factory;
