// A program in a real pseudo-terminal, which util-linux's `script` provides: what it shows, and what is typed.

import { spawn } from "node:child_process";

export interface Terminal {
  /** Resolves when the screen has shown this since the last call; rejects when the program ends before. */
  until(text: string): Promise<void>;
  type(text: string): void;
  /** Everything that appeared, with LF for line ends. */
  readonly screen: () => string;
  readonly ended: Promise<number | null>;
}

/** `command` is for the shell. */
export function openTerminal(command: string, options: { env: NodeJS.ProcessEnv; cwd: string }): Terminal {
  const env = { ...options.env, TERM: "xterm", SHELL: "/bin/sh" };
  const child = spawn("script", ["-qec", command, "/dev/null"], { cwd: options.cwd, env, stdio: "pipe" });
  let screen = "";
  let seen = 0;
  let hasEnded = false;
  let notify = () => {};
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    screen += text;
    notify();
  });
  child.stdin.on("error", () => {}); // it may have ended
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      hasEnded = true;
      notify();
      resolve(code);
    });
  });
  return {
    async until(text) {
      for (;;) {
        const found = screen.indexOf(text, seen);
        if (found !== -1) {
          seen = found + text.length;
          return;
        }
        if (hasEnded) throw new Error(`${JSON.stringify(text)} did not appear in ${JSON.stringify(screen)}`);
        await new Promise<void>((resolve) => {
          notify = resolve;
        });
      }
    },
    type: (text) => void child.stdin.write(text),
    screen: () => screen.replaceAll("\r\n", "\n"),
    ended,
  };
}
