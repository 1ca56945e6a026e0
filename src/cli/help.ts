// `galley --help`, made from the tables of options and verbs.

import { flagText, shownOptions } from "./options.js";
import { helpRow } from "./verb-help.js";
import { verbs } from "./verbs.js";

export function helpText(): string {
  const rows = shownOptions.map((option) => {
    const flags = `${option.short ? `-${option.short}, ` : "    "}${flagText(option)}`;
    return `  ${flags.padEnd(40)} ${option.help}`;
  });
  const overview = verbs
    .map(({ name, usage, help }) => helpRow(`galley ${name}${usage && ` ${shortUsage(usage)}`}`, help))
    .join("");
  return `galley: a coding agent that previews, then applies

Usage
  galley [options] [@file...] [WORD...]       a conversation at the terminal; the words are its first prompt
  galley -p [options] [@file...] WORD...      one-shot run: the words are one prompt, the answer goes to stdout
  galley --mode json [options] WORD...        the same, every event as one JSON line
  galley --mode rpc [options]                 drive it from another program over stdin and stdout

Commands (galley VERB --help says more)
${overview}
With no model set up, galley answers with its built-in planner; try  galley -p help

Options
${rows.join("\n")}
  ${"--".padEnd(40)} end of options

Exit codes of -p and --mode json
  0 done, previews may be pending; 1 could not start; 2 wrong usage; 3 the run failed; 4 a limit was hit;
  5 previews left undecided, with --exit-code; 6 denied by policy; 7 no model, or its provider failed
`;
}

/** Without its options: the verb's own help has them. */
function shortUsage(usage: string): string {
  return usage.replaceAll(/ ?\[--[^\]]*\]/g, "");
}
