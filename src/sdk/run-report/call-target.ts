// What a tool call is about, in a few words: its file, its command, its pattern.

import { oneLine } from "../../base/sanitize.js";

const maxLength = 100;
/** In this order. */
const names = ["path", "file_path", "paths", "command", "pattern", "pat", "action", "url", "query", "name", "id"];

/** Empty where the arguments name nothing. Without control characters, on one line. */
export function callTarget(args: unknown): string {
  if (typeof args !== "object" || args === null) return "";
  const given = args as Record<string, unknown>;
  const { pattern, path } = given;
  if (typeof pattern === "string" && typeof path === "string" && path.trim() !== "")
    return oneLine(`${pattern} in ${path}`, maxLength);
  for (const name of names) {
    const value = given[name];
    const text = Array.isArray(value) ? value.filter((item) => typeof item === "string").join(" ") : value;
    if (typeof text === "string" && text.trim() !== "") return oneLine(text, maxLength);
  }
  return "";
}
