// Where the key for a provider comes from. Finding it is pure and runs nothing, so that models can be listed freely;
// only `resolveValue` may run a command, and a command that answered is not run again until its answer is refused.

import { GalleyError } from "../base/errors.js";
import { isObject } from "../base/json.js";
import { keyNames, knownProviders } from "./provider-list.js";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface CredentialSources {
  readonly env: Environment;
  /** API keys of the credential file, by provider. */
  readonly authFile: ReadonlyMap<string, string>;
  /** Keys given for this run, by provider. */
  readonly runtimeKeys: ReadonlyMap<string, string>;
  /** Returns the standard output of a command, or throws an error that does not repeat the command. */
  readonly runCommand: (command: string) => Promise<string>;
  /** The answer of a command was refused; for a `runCommand` that remembers answers. */
  readonly forgetAnswer?: (command: string, answer: string) => void;
  /** What people call the credential file and the models file. Default: auth.json, models.yml. */
  readonly names?: { readonly auth?: string; readonly models?: string };
}

/** `source`: where it was found, for people; absent where it stands in the text itself. */
export type Finding =
  | { kind: "value"; value: string; source?: string }
  | { kind: "command"; command: string; source?: string }
  | { kind: "missing" };

export type FoundKey = Exclude<Finding, { kind: "missing" }> & { source: string };

const missing: Finding = { kind: "missing" };

/** The first of `findKeys`. */
export function findKey(sources: CredentialSources, provider: string, configured: string | undefined): Finding {
  return findKeys(sources, provider, configured).next().value ?? missing;
}

/** Run, credential file, environment, models file: the first that has something decides. */
export function* findKeys(
  { env, authFile, runtimeKeys, names = {} }: CredentialSources,
  provider: string,
  configured: string | undefined,
): Generator<FoundKey, undefined> {
  const given = runtimeKeys.get(provider)?.trim();
  if (given) yield { kind: "value", value: given, source: "--api-key" };
  const stored = authFile.get(provider)?.trim();
  if (stored) yield { kind: "value", value: stored, source: names.auth ?? "auth.json" };
  for (const name of keyNames.get(provider) ?? []) {
    const value = variable(env, name)?.trim();
    if (value) yield { kind: "value", value, source: name };
  }
  const last = configured === undefined ? missing : findValue(configured, env);
  if (last.kind !== "missing") yield { ...last, source: last.source ?? names.models ?? "models.yml" };
}

/** For a provider without a key. `name`: the variable to set, where one is known. */
export function noKeyText(provider: string, name: string | undefined): string {
  const login = loginCommand(provider);
  if (login !== undefined && name !== undefined)
    return `No API key found for ${provider}. Set ${name}, or run: ${login}`;
  const ways = name === undefined ? "Pass --api-key, or add apiKey to models.yml" : `Set ${name}, or pass --api-key`;
  return `No API key found for ${provider}. ${ways}.`;
}

/** Absent for a service that the user described: galley cannot know how to check its key. */
export function loginCommand(provider: string): string | undefined {
  return knownProviders.some(({ id }) => id === provider) ? `galley login ${provider}` : undefined;
}

/** The rules for `apiKey` and header values: `!command`, `$NAME`, `${NAME}`, a bare name that is set, a literal. */
export function findValue(text: string, env: Environment): Finding {
  if (text.startsWith("!")) {
    const command = text.slice(1).trim();
    return command === "" ? missing : { kind: "command", command };
  }
  const required = requiredVariable(text);
  const name = required ?? text;
  // A bare name that is set but empty is still a name: its own letters are not the key.
  const isVariable = required !== undefined || variable(env, name) !== undefined;
  const value = (isVariable ? variable(env, name) : text)?.trim();
  if (!value) return missing;
  return isVariable ? { kind: "value", value, source: name } : { kind: "value", value };
}

/** The name in `$NAME` and `${NAME}`. */
export function requiredVariable(text: string): string | undefined {
  const required = /^\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))$/.exec(text);
  return required?.[1] ?? required?.[2];
}

/** A bare value that can only be a misspelt or unset variable name, yet counts as the key itself. */
export function looksLikeUnsetName(text: string, env: Environment): boolean {
  return /^[A-Z][A-Z0-9]*_[A-Z0-9_]*(KEY|TOKEN|SECRET|PASSWORD)$/.test(text) && variable(env, text) === undefined;
}

/** The value itself, for a request. `undefined` when there is none; throws what the command's runner throws. */
export async function resolveValue(
  finding: Finding,
  runCommand: CredentialSources["runCommand"],
): Promise<string | undefined> {
  if (finding.kind === "missing") return undefined;
  const value = finding.kind === "value" ? finding.value : (await runCommand(finding.command)).trim();
  // Refused here because fetch, refusing it later, would repeat the value in its error.
  if (value === "" || /[^\x20-\x7e]/.test(value))
    throw new GalleyError("no_credential", "The value is empty, of several lines, or not plain ASCII.");
  return value;
}

/** Answers of commands, which are secrets. */
export interface CommandAnswers {
  /** Runs each command once; callers that come while it runs share it. A failure is not remembered. */
  run(command: string): Promise<string>;
  /** Whether the command ever answered this. */
  gave(command: string, answer: string): boolean;
  /** A service refused this answer: the next caller runs the command again, unless it has run since. */
  forget(command: string, answer: string): void;
}

/** `forgetAnswer`: for a `runCommand` that remembers, too. */
export function rememberCommands(
  runCommand: CredentialSources["runCommand"],
  forgetAnswer?: CredentialSources["forgetAnswer"],
): CommandAnswers {
  const answers = new Map<string, { promise: Promise<string>; text?: string }>();
  const given = new Map<string, Set<string>>();
  return {
    run(command) {
      const known = answers.get(command);
      if (known !== undefined) return known.promise;
      const answer: { promise: Promise<string>; text?: string } = { promise: runCommand(command) };
      answers.set(command, answer);
      answer.promise.then(
        (text) => {
          answer.text = text.trim();
          given.set(command, (given.get(command) ?? new Set()).add(answer.text));
        },
        () => answers.delete(command), // the caller handles the failure; the next request may try again
      );
      return answer.promise;
    },
    gave: (command, answer) => given.get(command)?.has(answer) ?? false,
    forget(command, answer) {
      if (answers.get(command)?.text === answer) answers.delete(command);
      forgetAnswer?.(command, answer);
    },
  };
}

/** Forgets what a refused request carries of these commands' answers. False: it carries none. */
export function forgetRefused(
  commands: CommandAnswers,
  findings: readonly Finding[],
  { apiKey = "", headers = {} }: { apiKey?: string; headers?: Readonly<Record<string, string>> },
): boolean {
  const sent = [apiKey, ...Object.values(headers).flatMap((value) => [value, value.replace(/^bearer /i, "")])];
  let hasAnswers = false;
  for (const finding of findings) {
    if (finding.kind !== "command") continue;
    const answers = sent.filter((value) => commands.gave(finding.command, value));
    for (const answer of answers) commands.forget(finding.command, answer);
    hasAnswers ||= answers.length > 0;
  }
  return hasAnswers;
}

/** The API keys in a parsed credential file, and a warning for each entry that is not a key. */
export function readAuthFile(value: unknown, file: string): { keys: Map<string, string>; warnings: string[] } {
  const keys = new Map<string, string>();
  const warnings: string[] = [];
  if (!isObject(value)) return { keys, warnings: [`${file}: expected an object`] };
  for (const [provider, entry] of Object.entries(value)) {
    const at = `${file}: ${JSON.stringify(provider.slice(0, 80))}`;
    if (isObject(entry) && entry.type === "api_key" && typeof entry.key === "string") keys.set(provider, entry.key);
    else if (isObject(entry) && entry.type === "oauth") warnings.push(`${at}: OAuth logins are not used yet`);
    else warnings.push(`${at}: expected {"type":"api_key","key":"..."}`);
  }
  return { keys, warnings };
}

/** Own members only: `constructor` is not a variable. */
function variable(env: Environment, name: string): string | undefined {
  return Object.hasOwn(env, name) ? env[name] : undefined;
}
