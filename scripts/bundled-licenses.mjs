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
  const described = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  const file = readdirSync(directory).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file === undefined ? namedLicense(name, described) : readFileSync(join(directory, file), "utf8").trim();
  return `==== ${name} ${described.version}\n\n${text}\n`;
}

/** A package that names the MIT licence and carries no file of it: the licence's own words, which are the same for all. */
function namedLicense(name, { license, author }) {
  if (license !== "MIT") throw new Error(`${name} is bundled and has no licence file`);
  const own = readFileSync(new URL("../LICENSE", import.meta.url), "utf8");
  const words = own.slice(own.indexOf("Permission is hereby granted")).trim();
  return `MIT License\n\nCopyright (c) ${author?.name ?? author ?? `the authors of ${name}`}\n\n${words}`;
}
