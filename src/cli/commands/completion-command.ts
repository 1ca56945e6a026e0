// `galley completion bash|zsh|fish`.

import { ignoreBrokenPipe } from "../ignore-broken-pipe.js";
import { completionScript, type Shell, shells } from "../shell-completion.js";
import { unknownSubcommand, wrongUse } from "../verb-help.js";

export async function runCompletionCommand([shell, ...more]: readonly string[]): Promise<void> {
  ignoreBrokenPipe();
  if (shell === undefined || !shells.includes(shell as Shell)) throw unknownSubcommand("completion", shell);
  if (more.length > 0) throw wrongUse("completion", "galley completion takes one shell.");
  process.stdout.write(completionScript(shell as Shell));
}
