// Names that pi's modules export and galley does not have. A module may import, extend and patch them; the first call or
// construction says what is missing and who asked for it. An import that is undefined would fail later, and elsewhere.

import { GalleyError } from "../../base/errors.js";
import names from "./pi-names.json" with { type: "json" };

export type PiModule = Exclude<keyof typeof names, "version">;

/** The version of pi whose names these are. */
export const piVersion = names.version;

const standIns = new WeakSet<object>();

export function isStandIn(value: unknown): boolean {
  return typeof value === "function" && standIns.has(value);
}

export function hasName(module: PiModule, name: string): boolean {
  return names[module].split(" ").includes(name);
}

/** The names of the module that `exports` lacks. */
export function standInsFor(module: PiModule, exports: object): Record<string, unknown> {
  const missing = names[module].split(" ").filter((name) => !(name in exports));
  return Object.fromEntries(missing.map((name) => [name, standIn(name, module)]));
}

function standIn(name: string, module: PiModule): unknown {
  function missing(): never {
    const at = { stack: "" };
    Error.captureStackTrace(at, missing);
    throw new GalleyError(
      "unsupported",
      `galley does not have ${name} of ${module} yet (used by ${callerIn(at.stack)}).`,
    );
  }
  Object.defineProperty(missing, "name", { value: name });
  // A static function of a class is as missing as the class.
  const made = new Proxy(missing, {
    get: (target, member, receiver) =>
      typeof member === "symbol" || member === "then" || member in target
        ? Reflect.get(target, member, receiver)
        : missing,
  });
  standIns.add(made);
  return made;
}

/** The package of the nearest code, else its file. */
function callerIn(stack: string): string {
  const [, path = "a module"] = /((?:\/|[A-Za-z]:[\\/])[^():\n]+):\d+:\d+\)?$/m.exec(stack) ?? [];
  const [, name = path] = /^.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(path) ?? [];
  return name;
}
