// argv to data. Knows the options and not what they do. Lenient only where programs drive galley: existing clients pass
// foreign flags to RPC mode, and a typing error at a terminal must not start the wrong thing.

import { editDistance } from "../base/edit-distance.js";
import { GalleyError } from "../base/errors.js";
import { type OptionSpec, optionSpecs, shownOptions, textOrFileValue, textValue } from "./options.js";

export interface CommandLine {
  /** By long name; a switch is `[""]`, a repeatable option has several values. */
  readonly options: ReadonlyMap<string, readonly string[]>;
  /** Everything that is no option, including `@file` words. */
  readonly words: readonly string[];
  /** The words come after `--`: they are a message, whatever they look like. */
  readonly isLiteral: boolean;
  /** Long options that galley does not know: an extension may. */
  readonly foreign: readonly ForeignFlag[];
  /** What was ignored and should be reported on stderr. */
  readonly warnings: readonly string[];
}

export interface ForeignFlag {
  /** With its dashes. */
  readonly flag: string;
  readonly inline: string | undefined;
  /** The index of the word right behind it: its value, if it takes one. */
  readonly nextWord: number | undefined;
}

export type Mode = "text" | "json" | "rpc";

/** Omp's name for a host that draws what extensions show, which galley always sends. */
const otherModeNames: Readonly<Record<string, Mode>> = { "rpc-ui": "rpc" };

/** An option that galley does not know, and that could keep the agent from something: to ignore it would let that pass. */
const restricting = /^--(?:no-|deny-|disallow|read-?only|sandbox|permission|approval)/;

export function mayRestrict({ flag }: Pick<ForeignFlag, "flag">): boolean {
  return restricting.test(flag);
}

export function parseArguments(argv: readonly string[]): CommandLine {
  const isRpc = isDriven(argv);
  const options = new Map<string, string[]>();
  const words: string[] = [];
  const foreign: ForeignFlag[] = [];
  const warnings: string[] = [];
  let isLiteral = false;
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] as string;
    if (word === "--") {
      isLiteral = words.length === 0;
      words.push(...argv.slice(index + 1));
      break;
    }
    if (!word.startsWith("-") || word === "-") {
      words.push(word);
      continue;
    }
    const [flag, inline] = split(word);
    const spec = specOf(flag);
    if (!spec) {
      const next = argv[index + 1];
      const isWord = next !== undefined && !(next.startsWith("-") && next.length > 1);
      if (word.startsWith("--")) foreign.push({ flag, inline, nextWord: isWord ? words.length : undefined });
      else if (!isRpc) throw new GalleyError("usage", unknownText(flag));
      else warnings.push(`${unknownText(flag)} It is ignored.`);
      continue;
    }
    const next = argv[index + 1];
    const taken = takeValue(spec, { inline, next });
    if (taken.usedNext) index++;
    if (spec.isUnsupported) {
      if (!isRpc) throw new GalleyError("usage", `--${spec.name} is not supported in this version.`);
      warnings.push(`--${spec.name} has no effect in this version.`);
      continue;
    }
    if (isRpc && spec.isOneShot) warnings.push(`--${spec.name} has no effect in RPC mode.`);
    const earlier = spec.repeatable ? (options.get(spec.name) ?? []) : [];
    options.set(spec.name, [...earlier, taken.value]);
  }
  return { options, words, isLiteral, foreign, warnings };
}

/** Where no extension will be loaded, an unknown option is a typing error. Not so in RPC mode. */
export function refuseForeign(line: CommandLine): void {
  const [first] = line.foreign;
  if (first && modeOf(line) !== "rpc") throw new GalleyError("usage", unknownText(first.flag));
}

/** A conversation at a terminal would ignore them. */
export function refuseOneShot({ options }: CommandLine): void {
  const given = optionSpecs.find(({ name, isOneShot }) => isOneShot && options.has(name));
  if (given) throw new GalleyError("usage", `--${given.name} is for one-shot runs. Add -p.`);
}

export function unknownText(flag: string): string {
  return `Unknown option ${flag}.${nearest(flag)}`;
}

/** `--output-format` names the same for scripts that were written for other programs. */
export function modeOf({ options }: CommandLine): Mode | undefined {
  const named = options.get("mode")?.[0];
  const mode = otherModeNames[named ?? ""] ?? named;
  if (mode !== undefined && mode !== "text" && mode !== "json" && mode !== "rpc")
    throw new GalleyError("usage", `--mode must be text, json or rpc, not "${mode}".`);
  const format = options.get("output-format")?.[0];
  if (format === undefined) return mode;
  if (!["text", "json", "stream-json"].includes(format))
    throw new GalleyError("usage", `--output-format must be text, json or stream-json, not "${format}".`);
  const meant = format === "text" ? "text" : "json";
  if (mode !== undefined && mode !== meant)
    throw new GalleyError("usage", `--mode ${mode} and --output-format ${format} exclude each other.`);
  return meant;
}

function split(word: string): [string, string | undefined] {
  const equals = word.indexOf("=");
  return word.startsWith("--") && equals !== -1 ? [word.slice(0, equals), word.slice(equals + 1)] : [word, undefined];
}

function takeValue(
  spec: OptionSpec,
  { inline, next }: { inline: string | undefined; next: string | undefined },
): { value: string; usedNext: boolean } {
  if (spec.value === undefined) {
    if (inline !== undefined) throw new GalleyError("usage", `--${spec.name} takes no value.`);
    return { value: "", usedNext: false };
  }
  if (inline !== undefined) return { value: inline, usedNext: false };
  const isValue = next !== undefined && !looksLikeOption(next, spec);
  if (isValue && !(spec.optional && next.startsWith("@"))) return { value: next, usedNext: true };
  if (spec.optional) return { value: "", usedNext: false };
  throw new GalleyError("usage", `--${spec.name} needs a value (${spec.value}).`);
}

/** A text may well begin with a dash, as a list does; only before a known option was the value left out. */
function looksLikeOption(word: string, { value }: OptionSpec): boolean {
  if (!word.startsWith("-") || word.length === 1) return false;
  return (value !== textOrFileValue && value !== textValue) || word === "--" || specOf(split(word)[0]) !== undefined;
}

function specOf(flag: string): OptionSpec | undefined {
  return optionSpecs.find(
    ({ name, alias, short }) => flag === `--${name}` || flag === `-${short}` || (alias && flag === `--${alias}`),
  );
}

/** Looked for first, because it decides how lenient the rest is. */
export function isDriven(argv: readonly string[]): boolean {
  return wantsMode(argv, "rpc") || hasOption(argv, "--mode", "rpc-ui");
}

function wantsMode(argv: readonly string[], mode: Mode): boolean {
  return hasOption(argv, "--mode", mode);
}

/** How the caller of a one-shot run wants to be told how it ended: as the last of many lines, or as all there is. */
export function wantedEnd(argv: readonly string[]): "exit" | "result" | undefined {
  if (hasOption(argv, "--output-format", "json")) return "result";
  return wantsMode(argv, "json") || hasOption(argv, "--output-format", "stream-json") ? "exit" : undefined;
}

function hasOption(argv: readonly string[], flag: string, value: string): boolean {
  const end = argv.indexOf("--");
  const words = end === -1 ? argv : argv.slice(0, end);
  return words.some((word, index) => word === `${flag}=${value}` || (word === flag && words[index + 1] === value));
}

function nearest(flag: string): string {
  const wanted = flag.replace(/^-+/, "");
  let best: { name: string; distance: number } | undefined;
  for (const { name } of shownOptions) {
    const distance = editDistance(wanted, name);
    if (distance <= 2 && distance < (best?.distance ?? 3)) best = { name, distance };
  }
  return best ? ` Did you mean --${best.name}?` : " See galley --help.";
}
