// What a child process gets to see of our environment: an allow list and what the user configured. Credentials do not travel by accident, and the model cannot redirect the programs it starts.

import { GalleyError } from "../base/errors.js";

const allowedNames = /^(?:PATH|HOME|LANG|LC_\w+|TERM|TZ|USER|SHELL|TMPDIR|TMP|TEMP)$/;
const credentialLike = /KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH/;

/** What decides which program, library, configuration or service a child ends up with. */
const deciding =
  /^(?:(?:GALLEY|PI|XDG|NODE|LD|DYLD|GIT)_.*|HOME|PATH|.*_PROXY|.*(?:BASE_?URL|API_BASE)|BASH_ENV|ENV|PROMPT_COMMAND)$/;

export type Environment = Readonly<Record<string, string | undefined>>;

/** `configured` comes from the user's own configuration, so it may hold any name, and wins. */
export function childEnvironment(
  own: Environment,
  configured: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const inherited: Record<string, string> = {};
  for (const [name, value] of Object.entries(own))
    if (value !== undefined && allowedNames.test(name) && !credentialLike.test(name)) inherited[name] = value;
  return { ...inherited, ...configured };
}

/** What modules of the user have put into our own environment since `start`, without credentials. */
export function addedSince(start: Environment, now: Environment): Record<string, string> {
  const added = Object.entries(now).filter(([name, value]) => value !== start[name] && !credentialLike.test(name));
  return Object.fromEntries(added.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** Throws for a name that the model may not set. Programs differ in whether case counts, so it does not here. */
export function checkEnvironmentNames(extra: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(extra)) {
    const folded = name.toUpperCase();
    if (!/^[A-Z_][A-Z0-9_]*$/.test(folded) || deciding.test(folded) || credentialLike.test(folded))
      throw new GalleyError("tool_failed", `Invalid bash env name: ${name}`);
  }
}
