// Whether a session has templates, skills or rules at all. Mostly it has none, and then nothing of them is read.

import { findPlaces, type PromptTextOptions } from "./find-places.js";
import { SessionPrompts, type SessionPromptsParts } from "./session-prompts.js";
import { textKinds } from "./text-places.js";

/** Undefined where there is nothing to read and nothing was given. */
export function findSessionPrompts(parts: SessionPromptsParts, options: PromptTextOptions): SessionPrompts | undefined {
  const places = findPlaces(parts, options, parts.roots);
  const given = [options.skills, options.promptTemplates, options.slashCommands];
  const isNeeded = textKinds.some((kind) => places[kind].length > 0) || given.some((list) => list?.length);
  return isNeeded ? new SessionPrompts(parts, options, places) : undefined;
}
