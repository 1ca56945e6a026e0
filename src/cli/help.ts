// `galley --help`, made from the table the parser reads.

import { optionSpecs } from "./options.js";

export function helpText(): string {
  const supported = optionSpecs.filter(({ isUnsupported }) => !isUnsupported);
  const rows = supported.map(({ name, short, value, optional, help }) => {
    const shown = value === undefined ? "" : optional ? ` [${value}]` : ` ${value}`;
    const flags = `${short ? `-${short}, ` : "    "}--${name}${shown}`;
    return `  ${flags.padEnd(40)} ${help}`;
  });
  return `galley: a coding agent that previews, then applies

Usage
  galley -p [options] [@file...] MESSAGE...   one-shot run, the answer on stdout
  galley --mode json [options] MESSAGE...     the same, every event as one JSON line
  galley --mode rpc [options]                 drive it from another program over stdin and stdout

  galley pending                              what waits for a decision in this project
  galley show ID                              one of them, with its diff
  galley apply|discard ID [PATH...]|--all     write it, or drop it
  galley rebase ID                            make a stale one anew
  galley changes                              what was applied
  galley undo [CHANGE|--run]|redo             take a change or a run back, or make it again
  galley recover                              finish what a crash cut short

  galley config get|set|list|paths            settings and where they come from
  galley sessions list|gc                     the conversations on this machine
  galley tools list|check|new                 custom tools
  galley trust [DIR] [--yes|--revoke|--list]  let the project run its own tools and extensions
  galley models [SEARCH]                      the models that can be used now

Without a key galley answers with its built-in planner; try  galley -p help

Options
${rows.join("\n")}
  ${"--".padEnd(40)} end of options

Exit codes of -p and --mode json
  0 done, 1 could not start, 2 wrong usage, 3 the run failed, 4 a limit was hit, 5 previews still pending,
  6 denied by policy, 7 the model's provider failed
`;
}
