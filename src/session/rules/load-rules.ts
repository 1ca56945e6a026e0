// All rules of a session, from its configuration directories. What a name means is decided by the first directory
// that has it, even if its file turns out to be unusable: a lower directory must not silently replace a higher one.

import type { Log } from "../../base/log.js";
import { type PromptRule, parseRule, type RuleFile, ruleName, type StreamRule } from "./rule.js";

export interface LoadRulesOptions {
  /** In order of priority. */
  readonly directories: readonly string[];
  /** The rule files of one directory, in a fixed order; none if there is no such directory. */
  readDirectory(directory: string): readonly RuleFile[] | Promise<readonly RuleFile[]>;
  readonly log: Log;
}

export interface Rules {
  readonly stream: readonly StreamRule[];
  readonly prompt: readonly PromptRule[];
}

/** Never throws for the content of a file. */
export async function loadRules({ directories, readDirectory, log }: LoadRulesOptions): Promise<Rules> {
  const names = new Set<string>();
  const stream: StreamRule[] = [];
  const prompt: PromptRule[] = [];
  for (const directory of directories)
    for (const file of await readDirectory(directory)) {
      const name = ruleName(file.path);
      if (names.has(name)) continue;
      names.add(name);
      const parsed = await parseRule(file, log);
      if (parsed?.kind === "stream") stream.push(parsed.rule);
      if (parsed?.kind === "prompt") prompt.push(parsed.rule);
    }
  return { stream, prompt };
}
