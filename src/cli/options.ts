// The command-line options, as data: the parser and the help text both read this table and cannot disagree.

export interface OptionSpec {
  readonly name: string;
  readonly short?: string;
  /** A second name, without dashes. */
  readonly alias?: string;
  /** Shown in the help; an option without it is a switch. */
  readonly value?: string;
  /** The value may be left out. */
  readonly optional?: boolean;
  readonly repeatable?: boolean;
  readonly help: string;
  /** Not in the help, and refused. In RPC mode ignored with a warning, because programs that drive galley pass it. */
  readonly isUnsupported?: true;
  /** Not in the help: hosts of other agents pass it, and galley has nothing that it could change. */
  readonly isSilent?: true;
  /** For one-shot runs only. Refused at a terminal; in RPC mode ignored with a warning. */
  readonly isOneShot?: true;
}

/** The help's names for values that may be any text. */
export const textOrFileValue = "TEXT|FILE";
export const textValue = "TEXT";

export const optionSpecs: readonly OptionSpec[] = [
  { name: "mode", value: "text|json|rpc", help: "output mode" },
  { name: "print", short: "p", help: "run the messages, print the last answer, exit" },
  {
    name: "then",
    value: textValue,
    repeatable: true,
    help: "one more prompt, after the answer to the one before",
    isOneShot: true,
  },
  {
    name: "output-format",
    value: "text|json|stream-json",
    help: "one-shot: the answer, one JSON document, or --mode json",
  },
  { name: "json-snapshots", help: "JSON mode: the whole message so far in every update", isOneShot: true },
  { name: "quiet", help: "one-shot: no progress and no summary on stderr", isOneShot: true },
  { name: "verbose", help: "one-shot: a line on stderr for each tool call" },
  { name: "exit-code", help: "one-shot: exit with 5 if previews are left undecided", isOneShot: true },
  { name: "max-cost", value: "DOLLARS", help: "stop before the models cost more than this" },
  { name: "max-turns", value: "N", help: "stop before the models are asked more often than this" },
  { name: "max-tokens", value: "N", help: "stop before the models use more tokens than this" },
  { name: "provider", value: "NAME", help: "provider of the model" },
  { name: "model", value: "PATTERN[:LEVEL]", help: "model, as provider/id, id or part of a name" },
  { name: "thinking", value: "LEVEL", help: "off, minimal, low, medium, high, xhigh or max" },
  { name: "api-key", value: "KEY", help: "key for the chosen provider, for this run" },
  { name: "system-prompt", value: textOrFileValue, help: "replace the system prompt" },
  { name: "append-system-prompt", value: textOrFileValue, repeatable: true, help: "add to the system prompt" },
  { name: "tools", short: "t", value: "a,b", help: "only these tools, of galley and of extensions" },
  { name: "exclude-tools", short: "xt", value: "a,b", help: "all tools but these" },
  { name: "no-tools", short: "nt", help: "no tools but those of extensions that --tools names" },
  { name: "no-builtin-tools", short: "nbt", help: "only tools of extensions" },
  { name: "cwd", value: "DIR", help: "working directory" },
  { name: "list-models", value: "SEARCH", optional: true, help: "print the usable models and exit" },
  { name: "help", short: "h", help: "this text" },
  { name: "version", short: "v", help: "the version" },
  { name: "no-session", help: "keep the session in memory" },
  { name: "session-dir", value: "DIR", help: "where sessions are stored" },
  { name: "set", value: "KEY=VALUE", repeatable: true, help: "override a setting for this run" },
  { name: "no-title", help: "leave the window's title alone" },
  { name: "plain", help: "interactive, in whole lines without control sequences" },
  { name: "name", short: "n", value: textValue, help: "name the session" },
  { name: "continue", short: "c", help: "continue the last session" },
  { name: "resume", short: "r", value: "ID|PATH", optional: true, help: "open a session" },
  { name: "session", value: "ID|PATH", optional: true, help: "open a session, or begin one in a new file" },
  { name: "fork", value: "ID|PATH", help: "copy a session into a new one" },
  { name: "session-id", value: "ID", help: "the project's session with exactly this id, or a new one with it" },
  { name: "models", value: "a,b", help: "the models to keep to when cycling; * and ? stand for anything" },
  { name: "smol", value: "MODEL", help: "model for small work" },
  { name: "slow", value: "MODEL", help: "model for hard work" },
  { name: "plan", value: "MODEL", help: "model for planning" },
  { name: "provider-session-id", value: "ID", help: "id for provider-side caches" },
  { name: "extension", short: "e", value: "PATH", repeatable: true, help: "load an extension" },
  { name: "hook", value: "PATH", repeatable: true, help: "load a hook, which is an extension" },
  { name: "plugin-dir", value: "PATH", repeatable: true, help: "load a plugin" },
  { name: "tool", value: "PATH", repeatable: true, help: "load a custom tool" },
  { name: "skills", value: "GLOBS", help: "only skills with such a name; * and ? stand for anything" },
  { name: "skill", value: "PATH", repeatable: true, help: "a skill, or a directory of skills" },
  { name: "prompt-template", value: "PATH", repeatable: true, help: "a prompt template, or a directory of them" },
  { name: "no-extensions", short: "ne", help: "no extensions but those that are named" },
  { name: "no-skills", short: "ns", help: "no skills but those that are named" },
  { name: "no-prompt-templates", short: "np", help: "no prompt templates but those that are named" },
  { name: "no-context-files", short: "nc", help: "no AGENTS.md and the like" },
  { name: "no-rules", help: "no rules" },
  { name: "no-mcp", help: "no MCP servers", isUnsupported: true },
  { name: "no-lsp", help: "no language servers", isUnsupported: true },
  { name: "no-pty", help: "no pseudo terminal", isUnsupported: true },
  { name: "no-ui", help: "extensions have no user interface" },
  {
    name: "trust-project",
    short: "a",
    alias: "approve",
    help: "let the project run its own tools and extensions, for this run",
  },
  { name: "no-approve", short: "na", help: "nothing of the project runs, and no question, for this run" },
  { name: "allow-home", help: "allow running in the home directory", isUnsupported: true },
  { name: "access", value: "MODE", help: "read-only, stage, workspace or full: what the agent may do" },
  { name: "stage", help: "stage every change for review, those of commands too: --access stage" },
  { name: "auto", help: "write when a tool says so, and let the model decide its previews: --access workspace" },
  {
    name: "approval-mode",
    value: "always-ask|write|yolo",
    help: "ask before every write and command, before commands, or never",
  },
  { name: "yolo", alias: "auto-approve", help: "--approval-mode yolo" },
  { name: "allow-exec", help: "run commands on the disk where they cannot be staged" },
  { name: "yes", help: "apply what is pending at the end" },
  { name: "export", value: "FILE|ID [OUT]", help: "write a session as an HTML page and exit" },
  ...["no-themes", "offline"].map((name) => ({ name, help: "", isSilent: true as const })),
  ...["theme", "use-theme", "tui-mode"].map((name) => ({ name, value: "NAME", help: "", isSilent: true as const })),
];

/** Those that the help and the completion show. */
export const shownOptions = optionSpecs.filter(({ isUnsupported, isSilent }) => !isUnsupported && !isSilent);

/** `--cwd DIR`, as the help shows it. */
export function flagText({ name, value, optional }: OptionSpec): string {
  return `--${name}${value === undefined ? "" : optional ? ` [${value}]` : ` ${value}`}`;
}
