// Where the key for a provider comes from. Finding it is pure and runs nothing, so that models can be listed freely;
// only `resolveValue` may run a command, and a command that answered is not run again.

import { GalleyError } from "../base/errors.js";
import { isObject } from "../base/json.js";
import { keyNames } from "./provider-list.js";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface CredentialSources {
  readonly env: Environment;
  /** API keys of the credential file, by provider. */
  readonly authFile: ReadonlyMap<string, string>;
  /** Keys given for this run, by provider. */
  readonly runtimeKeys: ReadonlyMap<string, string>;
  /** Returns the standard output of a command, or throws an error that does not repeat the command. */
  readonly runCommand: (command: string) => Promise<string>;
}

/** `source`: where it was found, for people; absent where it stands in the text itself. */
export type Finding =
  | { kind: "value"; value: string; source?: string }
  | { kind: "command"; command: string; source?: string }
  | { kind: "missing" };

const missing: Finding = { kind: "missing" };

/** Run, credential file, environment, models file: the first that has something decides. */
export function findKey(sources: CredentialSources, provider: string, configured: string | undefined): Finding {
  const { env, authFile, runtimeKeys } = sources;
  const candidates: [source: string, value: string | undefined][] = [
    ["--api-key", runtimeKeys.get(provider)],
    ["auth.json", authFile.get(provider)],
    ...(keyNames.get(provider) ?? []).map((name): [string, string | undefined] => [name, variable(env, name)]),
  ];
  for (const [source, candidate] of candidates) {
    const value = candidate?.trim();
    if (value) return { kind: "value", value, source };
  }
  const last = configured === undefined ? missing : findValue(configured, env);
  return last.kind === "missing" ? missing : { ...last, source: last.source ?? "models.yml" };
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

/** Runs each command once; callers that come while it runs share it. A failure is not remembered. */
export function rememberCommands(runCommand: CredentialSources["runCommand"]): CredentialSources["runCommand"] {
  const answers = new Map<string, Promise<string>>();
  return (command) => {
    const known = answers.get(command);
    if (known !== undefined) return known;
    const answer = runCommand(command);
    answers.set(command, answer);
    answer.catch(() => answers.delete(command)); // the caller handles the failure; the next request may try again
    return answer;
  };
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
