// What each setting does, in one sentence, and the groups in which people read about them. A table of its own, because
// no session needs it: `galley config list` and docs/settings.md are made from it.

import type { SettingKey } from "./schema.js";

/** By group, in reading order. The compiler proves that every setting is in exactly one of them. */
export const settingGroups = {
  Queues: {
    steeringMode: "How many queued steering messages one model call receives.",
    followUpMode: "How many queued follow-ups one model call receives.",
    interruptMode:
      "When a steering message arrives during tool calls: `immediate` skips calls that have not started, `wait` lets them finish.",
  },
  "Models and requests": {
    defaultThinkingLevel:
      "The thinking level when neither the command line nor the session sets one. A model without reasoning has none.",
    "thinkingBudgets.minimal": "Tokens for thinking at this level, if the service wants a number instead of a level.",
    "thinkingBudgets.low": "Tokens for thinking at this level, if the service wants a number instead of a level.",
    "thinkingBudgets.medium": "Tokens for thinking at this level, if the service wants a number instead of a level.",
    "thinkingBudgets.high": "Tokens for thinking at this level, if the service wants a number instead of a level.",
    "thinkingBudgets.xhigh": "Tokens for thinking at this level, if the service wants a number instead of a level.",
    modelRoles:
      "Models by role, as `provider/id` or `provider/id:level`. `default` leads the conversation. The others are used where it cannot do something, and have their own fallbacks.",
    "models.discovery":
      "Whether local servers (Ollama, LM Studio, llama.cpp, vLLM, and those with `discovery` in the models file) are asked for their models: by `galley models`, where one is named, and before the first prompt of a session without any other model. `GALLEY_OFFLINE=1` stops it too.",
    enabledModels: "The models that `cycle_model` goes through, as patterns; empty: every model with a credential.",
    disabledProviders: "Names of model providers and configuration sources to ignore.",
    temperature: "The sampling temperature; -1 leaves it to the service.",
    topP: "The share of likely tokens to choose from; -1 leaves it to the service.",
    topK: "How many of the likeliest tokens to choose from; -1 leaves it to the service. Not sent to OpenAI.",
    minP: "The least likelihood of a token, as a share of the likeliest; -1 leaves it to the service. Sent to OpenAI-compatible services, not to OpenAI.",
    presencePenalty: "Against tokens that have occurred; -1 leaves it to the service. Not sent to Anthropic.",
    repetitionPenalty:
      "Against repetitions; -1 leaves it to the service. Sent to OpenAI-compatible services, not to OpenAI.",
    "images.autoResize": "`read` shrinks PNG images of more than 2000 pixels on a side.",
    "images.blockImages": "No image is sent to a model; the session keeps it.",
  },
  Budgets: {
    "budget.maxCost":
      "Dollars that a session may spend on models, from when galley opens it. `--max-cost` replaces it for one run.",
    "budget.maxTurns": "How often a session may ask models. `--max-turns` replaces it for one run.",
    "budget.maxTokens":
      "Tokens that a session may use: input, output and cache of all model calls. `--max-tokens` replaces it for one run.",
  },
  Retry: {
    "retry.enabled": "Retry after failures that may pass by themselves.",
    "retry.maxRetries": "Retries in a row.",
    "retry.baseDelayMs": "The first wait. Each further wait is twice as long.",
    "retry.maxDelayMs": "The longest wait.",
    "retry.fallbackChains": "By role: the models to use, in order, while a model is overloaded.",
    "retry.fallbackRevertPolicy": "When galley returns to the role's own model.",
  },
  Compaction: {
    "compaction.enabled": "Summarize the older part of a conversation before it outgrows the model.",
    "compaction.strategy": "`off` is the same as `enabled: false`.",
    "compaction.thresholdPercent":
      "Compact when the context window is this full; -1: when less than the reserve is left.",
    "compaction.thresholdTokens": "Compact when the context has this many tokens; -1: not by tokens.",
    "compaction.reserveTokens": "Tokens kept free for the reply.",
    "compaction.keepRecentTokens": "Tokens of the newest part that stay unchanged.",
    "compaction.autoContinue": "Continue automatically after a compaction in the middle of work.",
    "branchSummary.enabled": "Summarize a branch that is left, unless the caller decides.",
    "branchSummary.reserveTokens": "Tokens kept free for the summary of a branch.",
  },
  "Rules and todos": {
    "ttsr.enabled": "Use stream rules, which can stop a reply.",
    "ttsr.contextMode": "What happens to a reply that a rule stopped.",
    "ttsr.interruptMode": "Which part of a reply may be stopped.",
    "ttsr.repeatMode": "Whether a rule may interrupt again.",
    "ttsr.repeatGap": "With `after-gap`: after how many turns a rule may interrupt again.",
    "todo.enabled": "The model keeps a todo list.",
    "todo.reminders": "Remind the model of open todos.",
    "todo.reminders.max": "Reminders in a row.",
    "todo.eager": "The model answers the first prompt that asks for work with a plan.",
    "tasks.todoClearDelay": "Seconds until finished todos are cleared; negative: never.",
  },
  Tools: {
    "bash.environment": "Environment variables for commands, in addition to the few they get.",
    shellPath: "The shell for commands; default: bash, or sh.",
    "bash.network":
      "The network of confined commands: this machine's with all its local servers, the hosts of `bash.hosts` through a proxy, or none. See [sandbox](sandbox.md).",
    "bash.hosts":
      "With `hosts`: what commands may reach, as `name`, `*.suffix` or an address, each with `:port` or for 80 and 443. What is on this machine or its private network must be named with a port, such as `localhost:5432`. A project can only remove hosts.",
    "bash.unixSockets":
      "UNIX sockets of confined commands: their own, or none at all, which stops many programs that start others.",
    "bash.hide":
      "More paths that confined commands cannot see, absolute or below `~/`. A project can only add to them.",
    "bash.show": "Paths that confined commands can see although they are hidden otherwise, absolute or below `~/`.",
    "tools.maxTimeout": "The most seconds a call may ask for; 0: no further limit.",
    "tools.artifactSpillThreshold": "KB of output above which the whole output goes to an artifact.",
    "tools.artifactTailBytes": "KB of the end of such an output that the model sees.",
    "tools.artifactTailLines": "Lines of the end of such an output that the model sees.",
    "read.defaultLimit": "Lines to read when the call does not say.",
    "edit.fuzzyMatch": "`edit` ignores trailing space and look-alike characters.",
    "edit.fuzzyThreshold": "The least similarity for that, from 0 to 1.",
    "ask.timeout": "Seconds until `ask` takes the recommended answer; 0: wait.",
    "read.enabled": "Offer the tool `read`.",
    "write.enabled": "Offer the tool `write`.",
    "edit.enabled": "Offer the tool `edit`.",
    "bash.enabled": "Offer the tool `bash`.",
    "grep.enabled": "Offer the tool `grep`.",
    "find.enabled": "Offer the tool `find`.",
    "ls.enabled": "Offer the tool `ls`.",
    "astGrep.enabled": "Offer the tool `ast_grep`.",
    "astEdit.enabled": "Offer the tool `ast_edit`.",
    "ask.enabled": "Offer the tool `ask`.",
  },
  "Preview and undo": {
    staging: "What is previewed: nothing, what previews by itself, or every change.",
    "approval.mode":
      "Which calls the user is asked about; in the terminal the default is `unconfined`. See [terminal](terminal.md).",
    "approval.allow": "Calls that run unasked: what `a` in a question adds.",
    "resolve.order": "Which pending action is settled first.",
    "resolve.forcing": "How the model is made to decide.",
    "resolve.reminders": "How often the model is reminded.",
    "resolve.maxAttempts":
      "Failed attempts to apply an action, after which it can only be discarded. Also the number of model calls without a decision, after which galley stops asking.",
    "resolve.ttlSeconds": "Seconds until a pending action expires; 0: never.",
    "resolve.decider": "Who decides about previews.",
    "resolve.requireUser": "With `both`: refuse an apply if the user cannot be asked.",
    "undo.keep": "Changes per project that can be undone.",
    "undo.maxBytes": "Bytes stored for undo.",
    "stage.ignored":
      "What becomes of files that git ignores when a staged command writes them: `keep` leaves them in the view only, `plan` stages them like other files, `drop` forgets them.",
    "stage.maxFiles": "The most files that one staged command may change. If it changes more, nothing of it is staged.",
    "stage.maxBytes":
      "The most bytes that the changes of one staged command may have, before and after together. If they have more, nothing of it is staged.",
    "stage.maxFileBytes": "The most bytes of a file that is staged. A larger one is left out and named.",
    "stage.maxLayerBytes":
      "The most bytes that a staged command may write into the view. A command that writes more is stopped, and its effects are dropped.",
    "stage.copyMaxFiles":
      "The most files of a project that is copied for the view, where the system cannot lay a view over it.",
    "stage.copyMaxBytes": "The most bytes of such a project.",
  },
  "Extensions and prompts": {
    "skills.enabled": "Offer skills.",
    "skills.customDirectories": "More directories of skills.",
    extensions: "More extensions, by path.",
    disabledExtensions: "Extensions to ignore, as `extension-module:name`.",
    customTools: "More custom tools, by path.",
    "security.projectModules":
      "When a project's own code runs: once you trust it, always, or never. `allow` trusts every project whose files you own.",
  },
  "Files and sessions": {
    "secrets.enabled": "Files that match `secrets.paths` are not searched, and are read only with your consent.",
    "secrets.paths": "Patterns of file names or paths.",
    "secrets.maskForModel":
      "`off`: the model sees what tools return as it is. Session files, frames, pages and logs are masked all the same.",
    access:
      "What the agent may do: a name for a pair of `sandbox` and `staging`, which win over it. Without it, the front end decides.",
    sandbox:
      "Where commands may write: anywhere you may, in the project, or nowhere. Without it, `access` or the front end decides. If you set it and this machine cannot do it, commands are refused.",
    maxReadBytes: "The most bytes read from one file.",
    "workspace.roots": "Directories outside the project in which tools may write.",
    sessionDir: "Where sessions are stored.",
    autoResume: "Start with the newest session of the directory, like `--continue`.",
  },
  Terminal: {
    theme:
      "The colours: `auto` (by the terminal's background), `dark`, `light`, `high-contrast`, or the name of a file in `themes/` of the agent directory.",
    notifications:
      "How you are told, while another window has the focus, that a run of over 10 s has ended or that a question waits: OSC 9 where the terminal is known to show it and else the bell, one of them, or not at all.",
    "terminal.mouse":
      "The wheel in the review view, lists and questions, and clicks in the review view. The terminal's own selection then needs Shift.",
    "terminal.plain": "Whole lines without any control sequence, like `--plain`.",
    "terminal.title": "Set the title of the window.",
  },
} as const satisfies Readonly<Record<string, Partial<Readonly<Record<SettingKey, string>>>>>;

type Described = {
  [Group in keyof typeof settingGroups]: keyof (typeof settingGroups)[Group];
}[keyof typeof settingGroups];

const sentences: ReadonlyMap<SettingKey, string> = new Map(
  Object.values(settingGroups).flatMap((group) => Object.entries(group) as [Described, string][]) satisfies [
    SettingKey,
    string,
  ][],
);

export function describeSetting(key: SettingKey): string {
  return sentences.get(key satisfies Described) ?? "";
}
