// The verbs of the command line, as data: the program, the help, the suggestions and the completion read this table and
// cannot disagree. run-verb.ts knows where the code of each is.

export interface VerbForm {
  /** What follows the verb. A word in capitals stands for a value, what is in brackets may be left out. */
  readonly usage: string;
  /** One line. */
  readonly help: string;
  /** Names of the table of options that it takes too. */
  readonly options?: readonly string[];
}

/** `usage` and `help` are its row in the list of all verbs. */
export interface Verb extends VerbForm {
  readonly name: string;
  /** Each way to use it; absent: the row is the only one. */
  readonly forms?: readonly VerbForm[];
  /** What its own help says below the forms. */
  readonly notes?: readonly string[];
}

const inSessionDir = ["session-dir"];
const idNotes = [
  "An ID is pa_7 or just 7; a change is ch_1a2b3c4d or the beginning of it. A PATH is a file, a directory or a glob.",
];
const partNotes = ["--hunks PATH:1,3       only these hunks of a file", "--reason TEXT          why, for the record"];
const decideCodes = [
  "Exit codes: 0 done, 2 unknown id, path or hunk, or it rests on another, 3 stale or failed, 6 refused.",
];

/** What concerns tools of the options of a one-shot run. */
export const toolRunOptions: readonly string[] = [
  ...[
    "access",
    "stage",
    "auto",
    "yes",
    "allow-exec",
    "exit-code",
    "tool",
    "extension",
    "hook",
    "plugin-dir",
    "no-extensions",
  ],
  ...["trust-project", "set", "cwd", "session-dir", "no-session"],
];

/** What `galley exec` takes of the options of a one-shot run. */
export const execOptions: readonly string[] = ["stage", "access", "cwd", "session-dir", "set", "exit-code"];

const table = [
  { name: "pending", usage: "[--json]", help: "what waits for a decision in this project", options: inSessionDir },
  {
    name: "review",
    usage: "[ID] [--exit-code]",
    help: "look through it and decide, at the terminal",
    options: inSessionDir,
    notes: [
      "--exit-code            exit with 5 if something is left",
      ...idNotes,
      "Exit codes: 0 done, 2 unknown id or no terminal, 5 with --exit-code: something is left.",
    ],
  },
  {
    name: "show",
    usage: "ID [PATH...] [--stat|--files] [--json]",
    help: "a pending action or a change, with its diff",
    options: inSessionDir,
    notes: idNotes,
  },
  {
    name: "apply",
    usage: "ID [PATH...]...|--all [PATH...]",
    help: "write it, or only some files of it",
    forms: [
      { usage: "ID [PATH...]... [--json]", help: "write it, or only these files of it", options: inSessionDir },
      { usage: "--all [PATH...] [--json]", help: "everything that is pending in this project", options: inSessionDir },
    ],
    notes: [
      ...partNotes,
      "--with-deps            also what it rests on, for the same files",
      "--protected            also protected paths, such as .envrc; --all and --yes never write them",
      ...idNotes,
      ...decideCodes,
    ],
  },
  {
    name: "discard",
    usage: "ID [PATH...]...|--all [PATH...]",
    help: "drop it, or only some files of it",
    forms: [
      { usage: "ID [PATH...]... [--json]", help: "drop it, or only these files of it", options: inSessionDir },
      { usage: "--all [PATH...] [--json]", help: "everything that is pending in this project", options: inSessionDir },
    ],
    notes: [...partNotes, ...idNotes, ...decideCodes],
  },
  {
    name: "rebase",
    usage: "ID [--partial] [--json]",
    help: "make a stale one anew, for the files as they are now",
    options: inSessionDir,
    notes: ["--partial leaves out the hunks that no longer fit.", ...idNotes, ...decideCodes],
  },
  { name: "changes", usage: "[--json]", help: "what was applied, the newest first", options: inSessionDir },
  {
    name: "undo",
    usage: "[CHANGE|--run]",
    help: "take back the newest change, the named one, or a run",
    forms: [
      { usage: "[CHANGE] [--preview] [--json]", help: "the newest change, or the named one", options: inSessionDir },
      {
        usage: "--run [--yes] [--json]",
        help: "all changes of the last run: staged, or with --yes taken back",
        options: inSessionDir,
      },
    ],
    notes: ["--preview only stages it. --protected also takes back protected paths.", ...idNotes, ...decideCodes],
  },
  {
    name: "redo",
    usage: "[--preview] [--json]",
    help: "take the last undo back",
    options: inSessionDir,
    notes: ["--preview only stages it.", ...decideCodes],
  },
  { name: "recover", usage: "[--json]", help: "finish what a crash cut short", options: inSessionDir },
  {
    name: "config",
    usage: "get|set|unset|list|paths",
    help: "settings and where they come from",
    forms: [
      { usage: "get KEY [--json]", help: "one setting as it is here" },
      { usage: "set KEY VALUE [--json]", help: "change it in your settings file" },
      { usage: "unset KEY [--json]", help: "remove it from your settings file" },
      { usage: "list [--json]", help: "every setting: its value, where it comes from, what it does" },
      { usage: "paths [--json]", help: "where configuration is looked for, what was found, what hides what" },
    ],
    notes: ["Exit codes: 0 done, 2 wrong usage or unknown setting, 3 refused."],
  },
  {
    name: "sessions",
    usage: "list|gc",
    help: "the conversations on this machine",
    forms: [
      {
        usage: "list [--here|--all] [--json]",
        help: "those of this project, of this directory alone, or of all",
        options: inSessionDir,
      },
      { usage: "gc [--json]", help: "remove images and plans that no session names", options: inSessionDir },
    ],
  },
  {
    name: "tools",
    usage: "list|run|check|new",
    help: "run a tool; custom tools and extensions",
    forms: [
      { usage: "list [--trust-project] [--json]", help: "the custom tools that a session here has" },
      {
        usage: "run NAME JSON [--json] [OPTION...]",
        help: "run one tool, as a one-shot run would; - reads JSON from stdin",
        options: toolRunOptions,
      },
      { usage: "check PATH [--json]", help: "load a tool, an extension or a hook, and say what it registers" },
      { usage: "new NAME [--project]", help: "write a first version of a tool" },
    ],
    notes: [
      "Exit codes: 0 done, 2 wrong usage, unknown tool or wrong arguments, 3 the tool failed or the module has problems,",
      "5 with --exit-code: previews are pending, 6 refused.",
    ],
  },
  {
    name: "exec",
    usage: "[--stage] [--timeout S] [--json] -- PROGRAM [ARG...]",
    help: "run one program confined to the project, or staged",
    options: execOptions,
    notes: [
      "--timeout S            stop it after so many seconds",
      "--json                 one document with its output and what it did, instead of its output",
      "With --stage nothing that it does to files is written: it is pending, and the next staged program sees it.",
      "Exit codes: those of the program, 127 if it is not found, 128 + N by a signal; 2 wrong usage, 3 the session is open",
      "elsewhere, 5 with --exit-code: it ended with 0 and something is pending, 6 refused.",
    ],
  },
  {
    name: "trust",
    usage: "[DIR] [--yes|--revoke|--list]",
    help: "let the project run its own tools and extensions",
    forms: [
      { usage: "[DIR] [--yes]", help: "show what the project would run, and trust it as it is now" },
      { usage: "[DIR] --revoke", help: "forget what was decided about the project" },
      { usage: "--list", help: "the decisions so far" },
    ],
    notes: ["Without DIR the project is the one here.", "Exit codes: 0 done, 2 wrong usage, 6 nothing was decided."],
  },
  {
    name: "login",
    usage: "[PROVIDER]",
    help: "store an API key for a model service",
    forms: [
      { usage: "[PROVIDER] [--no-check]", help: "ask for a key, check it and store it" },
      { usage: "PROVIDER --stdin [--no-check]", help: "the same with a key from a pipe" },
      { usage: "PROVIDER --browser [--no-check]", help: "get a key in the browser; only openrouter offers it" },
      { usage: "--list", help: "where keys are found, without any part of a key" },
    ],
    notes: [
      "A stored key wins over one in the environment. --no-check stores it without asking the service.",
      "Exit codes: 0 stored, 2 wrong usage or no key, 3 could not be stored, 7 the service refused the key, 130 cancelled.",
    ],
  },
  {
    name: "logout",
    usage: "PROVIDER|--all",
    help: "remove stored keys",
    forms: [
      { usage: "PROVIDER", help: "the key of one service" },
      { usage: "--all", help: "every stored key" },
    ],
    notes: ["Exit codes: 0 done or nothing was stored, 2 wrong usage, 3 could not be removed."],
  },
  {
    name: "models",
    usage: "[SEARCH] [--all] [--json] [--provider P]",
    help: "the models that can be used now, with size and price",
    notes: [
      "SEARCH is part of a name. With --all also the models that need a key, and which one; --provider keeps to one",
      "service. Prices are in dollars for a million tokens.",
      "Exit codes: 0 done, 2 wrong usage.",
    ],
  },
  {
    name: "import",
    usage: "pi|omp|xcsh [--yes]",
    help: "copy settings, models and themes of another agent",
    notes: [
      "Shows first what would be copied and what is left, with the reason. Nothing that you have is replaced.",
      "Exit codes: 0 done or nothing was written, 2 wrong usage, 3 could not be written.",
    ],
  },
  {
    name: "link",
    usage: "pi|omp [--dir DIR]",
    help: "start galley where programs start pi or omp",
    notes: [
      "Makes a link of that name in DIR, or beside galley on PATH. What is there and no such link stays.",
      "Exit codes: 0 done, 2 wrong usage, 3 another program is there, or the link could not be made.",
    ],
  },
  {
    name: "unlink",
    usage: "pi|omp [--dir DIR]",
    help: "remove such a link",
    notes: ["Exit codes: 0 done or there was none, 2 wrong usage, 3 another program is there."],
  },
  {
    name: "doctor",
    usage: "[--json]",
    help: "check this installation and say how to mend it",
    notes: ["Exit codes: 0 all is ok, 2 wrong usage, 3 something needs attention."],
  },
  {
    name: "completion",
    usage: "bash|zsh|fish",
    help: "print a completion script for a shell",
    forms: [
      { usage: "bash", help: 'in ~/.bashrc:  eval "$(galley completion bash)"' },
      { usage: "zsh", help: 'in ~/.zshrc, after compinit:  eval "$(galley completion zsh)"' },
      { usage: "fish", help: "galley completion fish > ~/.config/fish/completions/galley.fish" },
    ],
  },
  { name: "help", usage: "[VERB]", help: "all verbs and options, or one verb" },
] as const satisfies readonly Verb[];

export type VerbName = (typeof table)[number]["name"];

export const verbs: readonly (Verb & { readonly name: VerbName })[] = table;

export function verbNamed(name: string): (typeof verbs)[number] | undefined {
  return verbs.find((verb) => verb.name === name);
}
