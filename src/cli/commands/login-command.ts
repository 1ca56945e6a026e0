// `galley login`: asks for a key, checks it and stores it. The key comes from the terminal, unseen, or from a pipe; it is
// never an argument, and no message repeats it.

import { sep } from "node:path";
import { GalleyError } from "../../base/errors.js";
import { homedir } from "../../base/home.js";
import { logTo } from "../../base/log.js";
import { nearestName } from "../../base/nearest-name.js";
import { sanitizeForTerminal } from "../../base/sanitize.js";
import {
  authFileOf,
  findKeyStore,
  findService,
  type KeyStore,
  type KnownProvider,
  knownProviders,
  listKeys,
  requireUsableStore,
  storeKey,
} from "../../sdk/keys/manage-keys.js";
import { exitCodes, signalCodes } from "../exit-codes.js";
import { alignedRows } from "../table.js";
import { type TerminalInput, withTerminalInput } from "../terminal-input.js";
import { unknownOption, wrongUse } from "../verb-help.js";
import { runKeyCommand } from "./key-command.js";

const known = ["--stdin", "--no-check", "--list", "--browser"];
const maxTries = 3;
const maxPipedBytes = 64 * 1024;

export async function runLoginCommand(words: readonly string[]): Promise<void> {
  const flags = words.filter((word) => word.startsWith("-")).map((word) => word.split("=", 1)[0] as string);
  const names = words.filter((word) => !word.startsWith("-"));
  const unknown = flags.find((flag) => !known.includes(flag));
  if (unknown !== undefined) throw unknownOption("login", unknown, known);
  if (names.length > 1) throw wrongUse("login", "galley login takes one provider. A key is never an argument.");
  const has = (flag: string) => flags.includes(flag);
  const store = findKeyStore(logTo((line) => process.stderr.write(sanitizeForTerminal(line))));
  if (has("--list")) {
    if (words.length > 1) throw wrongUse("login", "--list takes nothing else.");
    return runKeyCommand(() => list(store));
  }
  const provider = names[0] === undefined ? undefined : providerNamed(names[0]);
  if (has("--browser")) {
    if (provider?.id !== "openrouter" || has("--stdin"))
      throw wrongUse("login", "Only openrouter offers a login in the browser: galley login openrouter --browser");
  } else if (has("--stdin")) {
    if (!provider) throw wrongUse("login", "galley login PROVIDER --stdin needs the provider.");
  } else if (!process.stdin.isTTY)
    throw wrongUse(
      "login",
      "There is no terminal to ask for a key. To read it from a pipe: galley login PROVIDER --stdin",
    );
  return runKeyCommand(async () => {
    requireUsableStore(store);
    const given =
      has("--browser") && provider
        ? await fromBrowser(provider, store)
        : has("--stdin") && provider
          ? { provider, key: await readPiped() }
          : await askUser(provider);
    if (typeof given === "number") return given;
    return keep(given, store, { isChecked: !has("--no-check") });
  });
}

interface GivenKey {
  readonly provider: KnownProvider;
  readonly key: string;
}

/** A word that may be a key is not repeated. */
export function providerNamed(name: string): KnownProvider {
  const found = knownProviders.find(({ id }) => id === name);
  if (found) return found;
  const ids = knownProviders.map(({ id }) => id);
  const near = nearestName(name, ids);
  const shown = /^[\w.-]{1,24}$/.test(name) ? ` ${name}` : "";
  const rest = near === undefined ? ` Known: ${ids.join(", ")}.` : ` Did you mean ${near}?`;
  throw new GalleyError("usage", `Unknown provider${shown}.${rest}`);
}

/** A number is an exit code: there is no key. */
async function askUser(named: KnownProvider | undefined): Promise<GivenKey | number> {
  const terminal = { input: process.stdin, write: (text: string) => void process.stderr.write(text) };
  return withTerminalInput(terminal, async (input) => {
    const provider = named ?? (await askProvider(input));
    if (typeof provider === "number") return provider;
    process.stderr.write(`Create a key at ${provider.keyPage}\n`);
    for (let tries = 1; tries <= maxTries; tries++) {
      const line = await input.line(`API key for ${provider.id} (not shown):`);
      if (line === undefined) return signalCodes.SIGINT;
      const key = line.trim();
      const problem = problemOf(key);
      if (problem === undefined) return { provider, key };
      process.stderr.write(`${problem}\n`);
    }
    process.stderr.write("Nothing was stored.\n");
    return exitCodes.usage;
  });
}

async function askProvider(input: TerminalInput): Promise<KnownProvider | number> {
  const rows = knownProviders.map(({ id, name }, index) => [`${index + 1}`.padStart(2), id, name]);
  process.stderr.write(
    alignedRows(rows)
      .map((row) => `${row}\n`)
      .join(""),
  );
  for (let tries = 1; tries <= maxTries; tries++) {
    const line = await input.line("Provider (number or name): ", { isShown: true });
    if (line === undefined) return signalCodes.SIGINT;
    const word = line.trim();
    const found = knownProviders.find(({ id }, index) => word === id || word === `${index + 1}`);
    if (found) return found;
    process.stderr.write(`Enter a number from 1 to ${knownProviders.length}, or a name of the list.\n`);
  }
  return exitCodes.usage;
}

/** As requests want it: anything else would only fail later. */
function problemOf(key: string): string | undefined {
  if (key === "") return "No key was entered.";
  return /[^\x20-\x7e]/.test(key) ? "A key has only plain ASCII characters, on one line." : undefined;
}

async function readPiped(): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of process.stdin as AsyncIterable<Buffer>) {
    parts.push(part);
    bytes += part.length;
    if (bytes > maxPipedBytes) throw new GalleyError("usage", `The key is longer than ${maxPipedBytes} bytes.`);
  }
  const key = Buffer.concat(parts).toString("utf8").trim();
  const problem = problemOf(key);
  if (problem !== undefined) throw new GalleyError("usage", `${problem} Nothing was stored.`);
  return key;
}

async function fromBrowser(provider: KnownProvider, store: KeyStore): Promise<GivenKey | number> {
  const { baseUrl, env } = await findService(provider, store);
  const { loginInBrowser } = await import("../../sdk/keys/browser-login.js");
  const login = await loginInBrowser({ baseUrl, env });
  try {
    process.stderr.write(`Open this address in a browser:\n${login.address}\n`);
    const code = process.stdin.isTTY ? await codeFromUser(login) : await login.answered;
    if (code === undefined) return signalCodes.SIGINT;
    const key = await login.exchange(code);
    const problem = problemOf(key);
    if (problem !== undefined)
      throw new GalleyError("start_failed", "The service sent no usable key. Nothing was stored.");
    return { provider, key };
  } finally {
    login.close();
  }
}

/** The browser's answer, or the code that the user pastes where the browser runs on another machine. */
async function codeFromUser(login: { answered: Promise<string> }): Promise<string | undefined> {
  const terminal = { input: process.stdin, write: (text: string) => void process.stderr.write(text) };
  return withTerminalInput(terminal, (input) =>
    Promise.race([
      login.answered,
      input.line("Waiting for the browser, or paste its code or address here (not shown):"),
    ]),
  );
}

async function keep(
  { provider, key }: GivenKey,
  store: KeyStore,
  { isChecked }: { isChecked: boolean },
): Promise<number> {
  let state = "key not checked";
  if (isChecked) {
    const { checkKey } = await import("../../sdk/keys/check-key.js");
    const check = await checkKey(await findService(provider, store), key);
    if (check.kind === "refused") {
      process.stderr.write(`${provider.id}: the key was refused by ${check.text}. Nothing was stored.\n`);
      return exitCodes.provider;
    }
    if (check.kind === "unknown") process.stderr.write(`The key could not be checked: ${check.text}\n`);
    else state = "key works";
  }
  await storeKey(store, provider.id, key);
  process.stdout.write(sanitizeForTerminal(`${provider.id}: ${state}. Stored in ${shortPath(authFileOf(store))}\n`));
  return exitCodes.done;
}

async function list(store: KeyStore): Promise<number> {
  const rows = (await listKeys(store)).map(({ provider, source }) => [provider, source]);
  process.stdout.write(
    sanitizeForTerminal(
      alignedRows(rows)
        .map((row) => `${row}\n`)
        .join(""),
    ),
  );
  if (rows.length > 0) return exitCodes.done;
  const { setKeyText } = await import("../../sdk/models/list-models.js");
  process.stderr.write(`No key found. ${setKeyText}\n`);
  return exitCodes.done;
}

/** As people write it. */
export function shortPath(path: string): string {
  const home = homedir();
  return path.startsWith(`${home}${sep}`) ? `~${path.slice(home.length)}` : path;
}
