// `galley logout`: removes stored keys, and says where else a key is still found.

import { logTo } from "../../base/log.js";
import { sanitizeForTerminal } from "../../base/sanitize.js";
import { authFileOf, findKeyStore, removeKeys, storedProviders } from "../../sdk/keys/manage-keys.js";
import { exitCodes } from "../exit-codes.js";
import { unknownOption, wrongUse } from "../verb-help.js";
import { runKeyCommand } from "./key-command.js";
import { providerNamed, shortPath } from "./login-command.js";

export async function runLogoutCommand(words: readonly string[]): Promise<void> {
  const flags = words.filter((word) => word.startsWith("-"));
  const names = words.filter((word) => !word.startsWith("-"));
  const unknown = flags.find((flag) => flag !== "--all");
  if (unknown !== undefined) throw unknownOption("logout", unknown, ["--all"]);
  if (names.length + flags.length !== 1) throw wrongUse("logout", "galley logout takes one provider, or --all.");
  const [name] = names;
  const store = findKeyStore(logTo((line) => process.stderr.write(sanitizeForTerminal(line))));
  // The file may hold keys for services that only the models file describes.
  if (name !== undefined && !storedProviders(store).includes(name)) providerNamed(name);
  return runKeyCommand(async () => {
    const file = shortPath(authFileOf(store));
    const { removed, left, others } = await removeKeys(store, name);
    const told = [
      ...removed.map((provider) => `${provider}: removed from ${file}`),
      ...(removed.length === 0 ? [name === undefined ? `No key in ${file}` : `${name}: no key in ${file}`] : []),
      ...left.map(({ provider, source }) => `${provider}: a key is still found in ${source}`),
      ...others.map((entry) => `${entry}: left in ${file}, because it is no API key`),
    ];
    process.stdout.write(sanitizeForTerminal(told.map((line) => `${line}\n`).join("")));
    return exitCodes.done;
  });
}
