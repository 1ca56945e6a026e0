// The licences of the libraries that are bundled. Their authors ask that the text goes where the code goes.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** `files` are what the bundler read, relative to `root`. Throws for a library without a licence. */
export function bundledLicenses(files, root) {
  const names = new Set([...files].flatMap((file) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []));
  return [...names]
    .sort()
    .map((name) => textOf(name, join(root, "node_modules", name)))
    .join("\n\n");
}

function textOf(name, directory) {
  const file = readdirSync(directory).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined) throw new Error(`${name} is bundled and has no licence file`);
  const { version } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  return `==== ${name} ${version}\n\n${readFileSync(join(directory, file), "utf8").trim()}\n`;
}
