// Which session a terminal window had last: a file of two lines per terminal, so that "continue" means this window's.

import { promises as fs, readlinkSync } from "node:fs";
import { join } from "node:path";
import { writeWhole } from "./write-whole.js";

export interface Breadcrumb {
  readonly cwd: string;
  readonly sessionFile: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** A name for this terminal that holds while it is open; undefined where there is none. */
export function terminalId(env: Environment, ttyPath: string | undefined): string | undefined {
  const id =
    ttyPath?.replace(/^\/dev\//, "") ||
    env.KITTY_WINDOW_ID ||
    env.TMUX_PANE ||
    env.TERM_SESSION_ID ||
    env.WT_SESSION ||
    undefined;
  // It becomes a file name, and the environment may say anything.
  return id?.replace(/[^\w-]+/g, "-").slice(0, 128);
}

/** The terminal behind standard input, where the system tells. */
export function ttyPath(input: { isTTY?: boolean } = process.stdin, link = "/proc/self/fd/0"): string | undefined {
  if (!input.isTTY) return undefined;
  try {
    const path = readlinkSync(link);
    return path.startsWith("/dev/") ? path : undefined;
  } catch {
    return undefined; // no such place on this system
  }
}

/** The directory exists. */
export async function writeBreadcrumb(directory: string, terminal: string, crumb: Breadcrumb): Promise<void> {
  if (/[\r\n]/.test(crumb.cwd + crumb.sessionFile)) return; // two lines cannot tell such a path
  await writeWhole(join(directory, terminal), `${crumb.cwd}\n${crumb.sessionFile}\n`);
}

export async function readBreadcrumb(directory: string, terminal: string): Promise<Breadcrumb | undefined> {
  const text = await fs.readFile(join(directory, terminal), "utf8").catch(() => ""); // none is the usual case
  const [cwd, sessionFile] = text.split("\n");
  return cwd && sessionFile ? { cwd, sessionFile } : undefined;
}
