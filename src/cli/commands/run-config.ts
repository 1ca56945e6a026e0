// `galley config …` on a real terminal.

import { ignoreBrokenPipe } from "../ignore-broken-pipe.js";
import { runConfig } from "./config-command.js";

export async function runConfigCommand(words: readonly string[]): Promise<void> {
  ignoreBrokenPipe();
  process.exitCode = await runConfig(words, {
    cwd: process.cwd(),
    env: process.env,
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
  });
}
