// Why a module could not be loaded, for its user: the cause, the package and the line where it happened, the nearest name of what
// is missing, and the Node that has a built-in module.

import { builtinModules } from "node:module";
import { relative } from "node:path";
import { GalleyError, messageOf } from "../../base/errors.js";
import { suggestion } from "../../base/nearest-name.js";
import { packageDirectory, packageNameAt } from "./load-packages.js";
import { findUnknownNames, type KnownNames, type UnknownName } from "./unknown-names.js";

export interface FailureContext {
  /** The module that was loaded. */
  readonly path: string;
  readonly known: Omit<KnownNames, "context">;
  /** Empty where it cannot be read. */
  textOf(path: string): string;
}

/** Since which Node they are there without an option, of those that came late. */
const builtInSince: Readonly<Record<string, number>> = { sqlite: 22 };

/** For a name that this Node has not. */
export function missingBuiltIn(specifier: string, version = process.versions.node): GalleyError {
  const name = specifier.replace(/^node:/, "");
  const [major, minor] = version.split(".");
  const since = Object.hasOwn(builtInSince, name) ? builtInSince[name] : undefined;
  if (since !== undefined)
    return new GalleyError("unsupported", `${specifier} needs Node ${since}; this is ${major}.${minor}`);
  const near = suggestion(specifier, builtinModules);
  return new GalleyError("unsupported", `Node ${major}.${minor} has no built-in module ${specifier}${near}`);
}

/** Throws the sentence for a failure; what is a sentence for the user already stays. */
export async function explained(error: unknown, context: FailureContext): Promise<never> {
  if (GalleyError.is(error, "start_failed")) throw error;
  const message = messageOf(error);
  const builtIn = /No such built-in module: (node:\S+)/.exec(message)?.[1];
  // What a compiled import is called in a message says nothing to a reader.
  const cause = builtIn === undefined ? message.replace(/\(0 ?, ?\w+\.(\w+)\)/, "$1") : missingBuiltIn(builtIn).message;
  const place = placeOf(error);
  const near =
    place && /is not a (?:function|constructor)|undefined/.test(message) ? await nearestAt(place, context) : "";
  const where = whereText(context.path, place, cause);
  if (cause === message && near === "" && where === "") throw error;
  const told = new GalleyError("invalid_argument", `${cause}${where}${near}`, { cause: error });
  told.stack = error instanceof Error ? error.stack : told.stack;
  throw told;
}

interface Place {
  readonly file: string;
  readonly line: number;
}

/** The nearest code that is not Node's own. */
function placeOf(error: unknown): Place | undefined {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const [, file, line] = /(?:file:\/\/)?((?:\/|[A-Za-z]:[\\/])[^():\n]+):(\d+):\d+\)?$/m.exec(stack) ?? [];
  return file === undefined ? undefined : { file, line: Number(line) };
}

/** Of a package, whose file the user did not name. */
function whereText(module: string, place: Place | undefined, cause: string): string {
  const name = packageNameAt(module);
  const root = packageDirectory(module);
  if (name === undefined || root === undefined) return "";
  const isInside = place?.file.startsWith(`${root}/`) && !cause.includes(place.file);
  return isInside ? ` (${name}, ${relative(root, place?.file ?? "")}:${place?.line})` : ` (${name})`;
}

async function nearestAt({ file, line }: Place, { known, textOf }: FailureContext): Promise<string> {
  const text = textOf(file);
  if (text === "" || !/\.[cm]?[jt]sx?$/.test(file)) return "";
  const unknown = await findUnknownNames(text, file, known);
  const isHere = (one: UnknownName) => one.line === line || mentions(text, line, one);
  const found = unknown.find(isHere);
  return found?.sentence.includes("; did you mean")
    ? found.sentence.slice(found.sentence.indexOf("; did you mean"))
    : "";
}

/** An import of another line whose name stands in this one. */
function mentions(text: string, line: number, { sentence }: UnknownName): boolean {
  const name = /no export "([^"]+)"/.exec(sentence)?.[1];
  return name !== undefined && (text.split("\n")[line - 1] ?? "").includes(name);
}

/** A module that is not installed, or misspelt: one of ours may be meant. */
export function notFound(specifier: string, from: string, served: readonly string[]): GalleyError {
  return new GalleyError(
    "not_found",
    `Cannot find module "${specifier}" imported from ${from}${suggestion(specifier, served)}`,
  );
}
