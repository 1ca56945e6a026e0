// A front end watches a session to report, at the end of a run, what happened: what was written and by whom, what
// failed, what it took. It begins with options for `createAgentSession`, because some of it is seen only from inside.

import { homedir } from "../../base/home.js";
import { fileNow } from "../../files/file-now.js";
import { findProject } from "../../files/paths/find-roots.js";
import { isWithin } from "../../files/paths/resolve-path.js";
import type { AgentSession } from "../../session/agent-session.js";
import { shownInProject } from "../review/listed-action.js";
import type { CreateAgentSessionOptions } from "../session-options.js";
import { type ChangedBesides, mayWriteUntold, ProjectWatch } from "./changed-besides.js";
import { type FailedCall, RunTally } from "./run-tally.js";
import { type WrittenFile, WrittenFiles } from "./written-files.js";

export interface RunReport {
  /** What the session itself wrote, in total; it can be undone. */
  readonly written: readonly WrittenFile[];
  /** What commands and custom tools changed on their own. */
  readonly besides: ChangedBesides;
  readonly failed: readonly FailedCall[];
  readonly turns: number;
  readonly tokens: number;
  readonly cost: number;
}

export interface RunWatch {
  /** To be given to `createAgentSession`. */
  readonly options: Pick<CreateAgentSessionOptions, "hooks" | "onFilesWritten">;
  /** Up to now. */
  readonly tally: RunTally;
  attach(session: AgentSession): void;
  /** Before something outside of a tool call may write: a custom tool's own apply, at the end of the run. */
  beforeUntold(): Promise<void>;
  report(): Promise<RunReport>;
}

/** Above this no figures are made. */
const maxFileBytes = 16 * 1024 * 1024;

export function watchRun({ cwd, agentDir }: { cwd: string; agentDir: string }): RunWatch {
  const { writableRoot: root } = findProject({ cwd, home: homedir() });
  const tally = new RunTally();
  const files = new WrittenFiles();
  let session: AgentSession | undefined;
  const isOwn = (path: string) => isWithin(path, agentDir) || isOfSession(path, session?.sessionFile);
  const project = new ProjectWatch({ root, isOwn });
  const hasCallbacks = () => session?.pendingActions.some(({ kind }) => kind === "closure") ?? false;
  return {
    options: {
      onFilesWritten: files.note,
      hooks: {
        async beforeToolCall({ name }) {
          // A callback of a custom tool runs when it is resolved.
          if (mayWriteUntold(name) || (name === "resolve" && hasCallbacks())) await project.begin();
          return undefined;
        },
      },
    },
    tally,
    attach(opened) {
      session = opened;
      opened.observe((event) => tally.add(event));
    },
    beforeUntold: () => project.begin(),
    async report() {
      const found = await files.list(contentNow);
      const written = found.map((file) => ({ ...file, shownPath: shownInProject(file.path, root) }));
      const besides = await project.end((path) => files.has(path));
      const { failed, turns, tokens, cost } = tally;
      return { written, besides, failed, turns, tokens, cost };
    },
  };
}

/** The file of a session, and what is kept beside it. */
function isOfSession(path: string, sessionFile: string | undefined): boolean {
  return sessionFile !== undefined && path.startsWith(sessionFile.replace(/\.jsonl$/, ""));
}

async function contentNow(path: string): Promise<Uint8Array | null | undefined> {
  try {
    const now = await fileNow(path, maxFileBytes);
    return now ? now.bytes : null;
  } catch {
    return undefined; // it is there and cannot be read: then it has no figures
  }
}
