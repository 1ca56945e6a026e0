// What a tool call is about, in a few words: its file, its command, its pattern.

import { oneLine } from "../../base/sanitize.js";

const maxLength = 100;
/** Of each kind the first that is given. */
const places = ["path", "file_path", "paths"];
const searches = ["pattern", "pat"];
const others = ["command", "action", "url", "query", "name", "id"];

/** Empty where the arguments name nothing. Without control characters, on one line. */
export function callTarget(args: unknown): string {
  if (typeof args !== "object" || args === null) return "";
  const given = args as Record<string, unknown>;
  const [place = "", search = "", other = ""] = [places, searches, others].map((names) => firstOf(given, names));
  const target = place !== "" && search !== "" ? `${search} in ${place}` : place || search || other;
  return oneLine(target, maxLength);
}

function firstOf(given: Readonly<Record<string, unknown>>, names: readonly string[]): string {
  for (const name of names) {
    const value = given[name];
    const text = Array.isArray(value) ? value.filter((item) => typeof item === "string").join(" ") : value;
    if (typeof text === "string" && text.trim() !== "") return text;
  }
  return "";
}
