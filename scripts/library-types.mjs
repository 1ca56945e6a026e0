// The declarations must stand alone: the libraries that they speak of are bundled, so they are not installed with us. What
// is needed of a library's own declarations goes into the package, and the imports lead there.

import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const libraries = ["typebox", "@sinclair/typebox", "zod"];
const specifiers = /(\bfrom\s*|\bimport\s*\(\s*)(["'])([^"']+)\2/g;

/** `types` is where the compiler wrote our declarations. */
export function bringLibraryTypes(types, modules) {
  const names = readdirSync(types, { recursive: true }).filter((name) => name.endsWith(".d.ts"));
  const place = { modules, home: join(types, "lib"), done: new Set() };
  for (const file of names.map((name) => join(types, name))) {
    const text = readFileSync(file, "utf8");
    const led = text.replace(specifiers, (whole, before, quote, specifier) => {
      const library = libraries.find((name) => specifier === name || specifier.startsWith(`${name}/`));
      if (library === undefined) return whole;
      const entry = entryOf(join(modules, library), `.${specifier.slice(library.length)}`);
      bring(entry, place);
      const path = relative(dirname(file), join(place.home, relative(modules, entry))).replaceAll("\\", "/");
      return `${before}${quote}${path}${quote}`;
    });
    if (led !== text) writeFileSync(file, led);
  }
  for (const library of libraries) bringLicense(library, place);
}

/** The module that `import` means. */
function entryOf(directory, door) {
  const { exports } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  const target = exports[door]?.import;
  return join(directory, target?.default ?? target);
}

/** A module's declaration, and those of all that it imports. */
function bring(module, place) {
  const file = module.replace(/\.([cm]?)js$/, ".d.$1ts");
  if (place.done.has(file)) return;
  place.done.add(file);
  const target = join(place.home, relative(place.modules, file));
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(file, target);
  for (const [, , , specifier] of readFileSync(file, "utf8").matchAll(specifiers)) {
    const next = resolve(dirname(file), specifier);
    if (specifier.startsWith(".")) bring(next, place);
    else throw new Error(`${file} imports ${specifier}, which is not installed with us`);
  }
}

function bringLicense(library, { modules, home }) {
  const target = join(home, library);
  if (!existsSync(target)) throw new Error(`No declaration speaks of ${library} any more`);
  const name = readdirSync(join(modules, library)).find((file) => /^licen[cs]e/i.test(file));
  copyFileSync(join(modules, library, name), join(target, "LICENSE"));
}
