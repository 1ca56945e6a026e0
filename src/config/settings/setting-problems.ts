// What is wrong in a settings file, in sentences: each names file, position and reason, and none repeats a secret.

import { printable } from "../../files/paths/resolve-path.js";

export interface SettingProblem {
  readonly file: string;
  /** Where in the file; absent when the file as a whole is the problem. */
  readonly key?: string;
  /** A sentence that names file, position and reason, safe for a terminal and without secrets. */
  readonly text: string;
}

const maxShown = 20;
/** A file with more is no settings file. */
const maxProblems = 1000;
const maxShownValue = 24;
const maxName = 80;

/** A broken file should not fill the screen, and a sentence that is not shown is not made. */
export class Problems {
  readonly #file: string;
  readonly #list: SettingProblem[] = [];
  #count = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** Reading can stop. */
  get isFull(): boolean {
    return this.#count >= maxProblems;
  }

  add(key: string, message: string | (() => string)): void {
    if (++this.#count > maxShown) return;
    this.#list.push(settingProblem(this.#file, key, typeof message === "string" ? message : message()));
  }

  list(): SettingProblem[] {
    const more = this.#count - this.#list.length;
    if (more === 0) return this.#list;
    const rest = this.isFull ? "; the rest of the file is not read" : "";
    return [...this.#list, settingProblem(this.#file, "", `and ${more} more problems${rest}`)];
  }
}

export function settingProblem(file: string, key: string, message: string): SettingProblem {
  const place = key === "" ? "" : ` ${shownName(key)}:`;
  return { file, ...(key === "" ? {} : { key }), text: `${printable(file)}:${place} ${message}` };
}

export function shownName(name: string): string {
  return printable(name.length > maxName ? `${name.slice(0, maxName)}…` : name);
}

/** An item of a list, which the user has to find there. What is before an @ may be a password. */
export function shownItem(value: unknown): string {
  if (typeof value !== "string") return shown(value);
  const open = value.replace(/^.*@/s, "…@");
  return `"${printable(open.length > maxName ? `${open.slice(0, maxName)}…` : open)}"`;
}

/** Short words and numbers only: anything longer may be a key pasted into the wrong line. */
export function shown(value: unknown): string {
  if (typeof value === "string")
    return value.length <= maxShownValue ? `"${printable(value)}"` : `a text of ${value.length} characters`;
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : String(value);
}
