// The user's own editor, for a text or a file. The terminal must be free while it runs.

import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { GalleyError } from "../base/errors.js";
import type { TerminalAccess } from "../tui/terminal-access.js";

export function externalEditor(cwd: string): Pick<TerminalAccess, "editText" | "openFile"> {
  return {
    async editText(text, name) {
      const directory = await mkdtemp(join(tmpdir(), "galley-edit-"));
      try {
        const path = join(directory, basename(name).replace(/[^\w.-]/g, "_") || "text");
        await writeFile(path, text, { mode: 0o600 });
        await runEditor(path, cwd);
        return await readFile(path, "utf8");
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    },
    openFile: (path) => runEditor(resolve(cwd, path), cwd),
  };
}

/** `$VISUAL` or `$EDITOR` may have arguments: a shell reads them, and the path is one word. */
function runEditor(path: string, cwd: string): Promise<void> {
  const editor = process.env.VISUAL || process.env.EDITOR;
  if (!editor) throw new GalleyError("unsupported", "Set VISUAL or EDITOR to edit here.");
  return new Promise((done, fail) => {
    const child = spawn("sh", ["-c", `${editor} "$1"`, "sh", path], { cwd, stdio: "inherit" });
    child.on("error", fail);
    child.on("exit", (code) =>
      code === 0
        ? done()
        : fail(new GalleyError("tool_failed", `The editor ended with code ${code}. Nothing was changed.`)),
    );
  });
}
