// Programs and the shell that get the terminal for a while: the user's editor, and the shell after Ctrl-Z. The terminal has
// been put back by the caller, which takes it again afterwards.

import { spawn } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { GalleyError, messageOf } from "../../base/errors.js";

/** Where the process cannot be stopped (no job control), the program goes on after this. */
const stopWaitMs = 100;

/** Resolves when the shell continues the program. */
export function suspendProcess(): Promise<void> {
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const goOn = () => {
      process.off("SIGCONT", goOn);
      clearTimeout(timer);
      resolve();
    };
    process.on("SIGCONT", goOn);
    process.kill(0, "SIGTSTP"); // the whole group, as the key would
    timer = setTimeout(goOn, stopWaitMs);
  });
}

/** The text as the user left it; undefined when the editor failed. `name` is how the file is called there. */
export async function editInEditor(
  text: string,
  name: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const editor = editorOf(env);
  const directory = mkdtempSync(join(tmpdir(), "galley-edit-"));
  const file = join(directory, basename(name) || "text.md");
  try {
    writeFileSync(file, text, { mode: 0o600 });
    const code = await runInTerminal(editor, file);
    return code === 0 ? readFileSync(file, "utf8") : undefined;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Opens a file of the project. False: the editor failed. */
export async function openInEditor(file: string, env: Readonly<Record<string, string | undefined>>): Promise<boolean> {
  return (await runInTerminal(editorOf(env), file)) === 0;
}

export function editorOf(env: Readonly<Record<string, string | undefined>>): string {
  const editor = env.VISUAL || env.EDITOR;
  if (!editor) throw new GalleyError("unsupported", "No editor is set. Set  VISUAL  or  EDITOR  and try again.");
  return editor;
}

/** Through the shell, since the variable may hold options; on a terminal of its own opening, past the guard of stdout. */
function runInTerminal(editor: string, file: string): Promise<number | null> {
  const terminal = openSync("/dev/tty", constants.O_RDWR);
  return new Promise<number | null>((resolve, reject) => {
    const child = spawn("/bin/sh", ["-c", `${editor} "$1"`, "sh", file], { stdio: [terminal, terminal, terminal] });
    child.on("error", (error) => reject(new GalleyError("unsupported", `${editor}: ${messageOf(error)}`)));
    child.on("close", resolve);
  }).finally(() => closeSync(terminal));
}
