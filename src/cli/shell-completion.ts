// Completion scripts for shells, made from the tables of verbs, options and settings. The scripts start nothing: what
// they offer is written into them.

import { settingKeys } from "../config/settings/schema.js";
import { knownProviders } from "../sdk/keys/manage-keys.js";
import { type OptionSpec, shownOptions as own } from "./options.js";
import { formsOf } from "./verb-help.js";
import { type VerbForm, verbs } from "./verbs.js";

export type Shell = "bash" | "zsh" | "fish";
export const shells: readonly Shell[] = ["bash", "zsh", "fish"];

export function completionScript(shell: Shell): string {
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell]();
}

/** What may follow: these words, a file, a directory, or nothing that can be known. */
type Next = readonly string[] | "files" | "directories" | "unknown";

/** One way to use a verb, as a completion sees it. */
interface Place {
  readonly verb: string;
  /** Absent where the verb has no subcommands. */
  readonly subcommand?: string | undefined;
  readonly help: string;
  readonly flags: readonly string[];
  /** For the first word behind it. */
  readonly next: Next;
}

function placeOf(verb: string, { usage, help, options = [] }: VerbForm): Place {
  const subcommand = /^[a-z]+(?=$| )/.exec(usage)?.[0];
  const behind = subcommand === undefined ? usage : usage.slice(subcommand.length).trim();
  const value = /^\[?([A-Z]+)\b/.exec(behind)?.[1];
  const flags = [...(usage.match(/--[a-z][a-z-]*/g) ?? []), ...options.map((name) => `--${name}`), "--help"];
  return { verb, subcommand, help, flags: [...new Set(flags)], next: nextOf(value) };
}

function nextOf(value: string | undefined): Next {
  if (value === "KEY") return settingKeys;
  if (value === "VERB") return verbs.map(({ name }) => name);
  if (value === "PROVIDER") return knownProviders.map(({ id }) => id);
  if (value === "PATH" || value === "FILE") return "files";
  return value === "DIR" ? "directories" : "unknown";
}

/** What follows an option that takes a value. */
function valuesOf({ value = "" }: OptionSpec): Next {
  if (/^[a-z]+(?:\|[a-z]+)+$/.test(value)) return value.split("|");
  if (value === "DIR") return "directories";
  return /PATH|FILE/.test(value) ? "files" : "unknown";
}

/** Of one verb: all flags of its forms, and by subcommand what comes next. */
function byVerb(): { name: string; help: string; subcommands: Place[]; flags: string[]; next: Next }[] {
  const all = verbs.flatMap((verb) => formsOf(verb).map((form) => placeOf(verb.name, form)));
  return verbs.map(({ name, help }) => {
    const mine = all.filter(({ verb }) => verb === name);
    const plain = mine.find(({ subcommand }) => subcommand === undefined);
    return {
      name,
      help,
      subcommands: mine.filter(({ subcommand }) => subcommand !== undefined),
      flags: [...new Set(mine.filter(({ subcommand }) => subcommand === undefined).flatMap(({ flags }) => flags))],
      next: plain?.next ?? "unknown",
    };
  });
}

function bashScript(): string {
  const reply = (next: Next) => {
    if (next === "files") return "_galley_files -f";
    if (next === "directories") return "_galley_files -d";
    return next === "unknown" ? ":" : `_galley_words "${next.join(" ")}"`;
  };
  const values = own
    .filter(({ value }) => value !== undefined)
    .map((option) => {
      const names = [`--${option.name}`, ...(option.short ? [`-${option.short}`] : [])].join("|");
      return `    ${names}) ${reply(valuesOf(option))}; return ;;\n`;
    });
  const cases = byVerb().map(({ name, subcommands, flags, next }) => {
    if (subcommands.length === 0)
      return `    ${name}) flags="${flags.join(" ")}"; [[ $COMP_CWORD -eq 2 && $cur != -* ]] && ${reply(next)} ;;\n`;
    const inner = subcommands.map(
      (place) =>
        `        ${place.subcommand}) flags="${place.flags.join(" ")}"; [[ $COMP_CWORD -eq 3 && $cur != -* ]] && ${reply(place.next)} ;;\n`,
    );
    const words = subcommands.map(({ subcommand }) => subcommand).join(" ");
    return (
      `    ${name})\n      if [[ $COMP_CWORD -eq 2 ]]; then ${reply([...words.split(" "), "--help"])}; return; fi\n` +
      `      case "\${COMP_WORDS[2]}" in\n${inner.join("")}      esac ;;\n`
    );
  });
  const verbWords = verbs.map(({ name }) => name).join(" ");
  const flags = own.map(({ name }) => `--${name}`).join(" ");
  return `# bash completion of galley. In ~/.bashrc:  eval "$(galley completion bash)"
_galley_reply() {
  local line
  while IFS= read -r line; do [[ -n $line ]] && COMPREPLY+=("$line"); done <<< "$1"
}
_galley_words() { _galley_reply "$(compgen -W "$1" -- "$cur")"; }
_galley_files() {
  _galley_reply "$(compgen "$1" -- "$cur")"
  compopt -o filenames 2>/dev/null # quotes what needs it; older shells do without
  return 0
}

_galley() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" flags=""
  COMPREPLY=()
  case "\${COMP_WORDS[COMP_CWORD-1]}" in
${values.join("")}  esac
  if [[ $COMP_CWORD -eq 1 && $cur != -* ]]; then
    _galley_words "${verbWords}"
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join("")}    *) flags="${flags}"; [[ $cur != -* ]] && _galley_files -f ;;
  esac
  if [[ $cur == -* ]]; then _galley_words "$flags"; fi
  return 0
}

complete -F _galley galley
`;
}

function zshScript(): string {
  const add = (next: Next) => {
    if (next === "files") return "_files";
    if (next === "directories") return "_files -/";
    return next === "unknown" ? ":" : `compadd -- ${next.join(" ")}`;
  };
  const described = (rows: readonly (readonly [string, string])[]) =>
    rows.map(([name, help]) => quoted(`${name}:${help.replaceAll(":", "\\:")}`)).join(" ");
  const values = own
    .filter(({ value }) => value !== undefined)
    .map((option) => {
      const names = [`--${option.name}`, ...(option.short ? [`-${option.short}`] : [])].join("|");
      return `    ${names}) ${add(valuesOf(option))}; return ;;\n`;
    });
  const cases = byVerb().map(({ name, subcommands, flags, next }) => {
    if (subcommands.length === 0)
      return `    ${name}) flags=(${flags.join(" ")}); [[ $CURRENT -eq 3 && $cur != -* ]] && ${add(next)} ;;\n`;
    const rows = described(subcommands.map(({ subcommand = "", help }) => [subcommand, help]));
    const inner = subcommands.map(
      (place) =>
        `        ${place.subcommand}) flags=(${place.flags.join(" ")}); [[ $CURRENT -eq 4 && $cur != -* ]] && ${add(place.next)} ;;\n`,
    );
    return (
      `    ${name})\n      if [[ $CURRENT -eq 3 ]]; then rows=(${rows}); _describe command rows; return; fi\n` +
      `      case "$words[3]" in\n${inner.join("")}      esac ;;\n`
    );
  });
  return `#compdef galley
# zsh completion of galley. In ~/.zshrc, after compinit:  eval "$(galley completion zsh)"
_galley() {
  local cur="$words[CURRENT]"
  local -a rows flags
  case "$words[CURRENT-1]" in
${values.join("")}  esac
  if [[ $CURRENT -eq 2 && $cur != -* ]]; then
    rows=(${described(verbs.map(({ name, help }) => [name, help]))})
    _describe command rows
    return
  fi
  case "$words[2]" in
${cases.join("")}    *)
      if [[ $cur != -* ]]; then _files; return; fi
      rows=(${described(own.map(({ name, help }) => [`--${name}`, help]))})
      _describe -o option rows
      return ;;
  esac
  if [[ $cur == -* ]]; then compadd -- $flags; fi
}

# As a file in fpath it is this function's body; by eval it registers itself.
if [[ "\${funcstack[1]}" == "_galley" ]]; then _galley "$@"; else compdef _galley galley; fi
`;
}

function fishScript(): string {
  const complete = (condition: string, ...rest: string[]) =>
    `complete -c galley -n ${quoted(condition)} ${rest.join(" ")}`;
  const values = (next: Next) => {
    if (next === "files") return ["-rF"];
    if (next === "directories") return ["-x", "-a", quoted("(__fish_complete_directories)")];
    return next === "unknown" ? ["-x"] : ["-x", "-a", quoted(next.join(" "))];
  };
  const words = (next: Next) => {
    if (next === "files") return ["-F"];
    if (next === "directories") return ["-a", quoted("(__fish_complete_directories)")];
    return next === "unknown" ? undefined : ["-a", quoted(next.join(" "))];
  };
  const options = own.map((option) =>
    complete(
      "not __galley_verb",
      ...(option.short ? ["-s", option.short] : []),
      "-l",
      option.name,
      ...(option.value === undefined ? [] : values(valuesOf(option))),
      "-d",
      quoted(option.help),
    ),
  );
  const flagsOf = (condition: string, flags: readonly string[]) =>
    flags.map((flag) => {
      const spec = own.find(({ name }) => `--${name}` === flag);
      return complete(condition, "-l", flag.slice(2), ...(spec?.value === undefined ? [] : values(valuesOf(spec))));
    });
  const lines = byVerb().flatMap(({ name, help, subcommands, flags, next }) => {
    const row = complete("__fish_is_first_arg", "-a", name, "-d", quoted(help));
    const first = words(next);
    if (subcommands.length === 0)
      return [
        row,
        ...(first ? [complete(`__galley_at ${name}`, ...first)] : []),
        ...flagsOf(`__galley_verb ${name}`, flags),
      ];
    const inner = subcommands.flatMap((place) => {
      const at = `${name} ${place.subcommand}`;
      const second = words(place.next);
      return [
        complete(`__galley_at ${name}`, "-a", place.subcommand ?? "", "-d", quoted(place.help)),
        ...(second ? [complete(`__galley_at ${at}`, ...second)] : []),
        ...flagsOf(`__galley_verb ${at}`, place.flags),
      ];
    });
    return [row, ...inner];
  });
  return `# fish completion of galley:  galley completion fish > ~/.config/fish/completions/galley.fish
# Whether the command line begins with these words; without any, whether it begins with a verb.
function __galley_verb
    set -l words (commandline -opc)
    if test (count $argv) -eq 0
        contains -- "$words[2]" ${verbs.map(({ name }) => name).join(" ")}
        return
    end
    test (count $words) -gt (count $argv); and test "$words[2..(math 1 + (count $argv))]" = "$argv"
end
# The same, and nothing else stands behind them yet.
function __galley_at
    test (count (commandline -opc)) -eq (math 1 + (count $argv)); and __galley_verb $argv
end
complete -c galley -f
${[...options, ...lines].join("\n")}
`;
}

/** As one word of any of the three shells. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
