// `galley help [VERB]`.

import { helpText } from "../help.js";
import { ignoreBrokenPipe } from "../ignore-broken-pipe.js";
import { unknownVerb, verbHelp, wrongUse } from "../verb-help.js";
import { verbNamed } from "../verbs.js";

export async function runHelpCommand([name, ...more]: readonly string[]): Promise<void> {
  ignoreBrokenPipe();
  if (more.length > 0) throw wrongUse("help", "galley help takes one verb.");
  const verb = name === undefined ? undefined : verbNamed(name);
  if (name !== undefined && !verb) throw unknownVerb(name);
  process.stdout.write(verb ? verbHelp(verb) : helpText());
}
