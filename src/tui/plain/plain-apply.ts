// The model wants to apply something, in plain mode: everything that it would write is printed, then a list is answered. What
// is no clear answer leaves it pending.

import { writtenOut } from "../../base/written-out.js";
import type { AgentSession } from "../../sdk/index.js";
import type { ApplyAnswer, ApplyQuestion } from "../../sdk/review/apply-questions.js";
import type { PlainIO } from "./plain-io.js";
import { aboutPlace, filesOf, type Place, placesOf } from "./plain-places.js";
import { answer } from "./plain-questions.js";

const who = "question";

export async function askToApply(
  { session, io }: { session: AgentSession; io: PlainIO },
  { id, revision }: ApplyQuestion,
  signal: AbortSignal | undefined,
): Promise<ApplyAnswer> {
  const action = (await session.getPendingActions({ check: true })).find((each) => each.id === id);
  if (!action) return "postponed"; // it has been decided elsewhere
  const places = await placesOf(session, action);
  for (const place of places) io.say(`preview ${id}`, aboutPlace(place));
  if (places.some((place) => place.revision !== revision)) return "postponed"; // not what the model asked about
  const hasParts = action.kind !== "closure" && places.length > 1;
  io.say(
    who,
    [
      `The model wants to apply ${id} ${writtenOut(action.label)}.`,
      ...["1 yes, all of it", "2 no, with a reason", "3 later: it stays pending"],
      ...(hasParts ? ["4 a part of it"] : []),
      "A number. Anything else is later.",
    ].join("\n"),
  );
  const said = await answer(io, signal);
  if (signal?.aborted) return false;
  if (said === "1") return true;
  if (said === "2") return { apply: {}, rest: "discard", reason: await reasonFor(io, signal) };
  return said === "4" && hasParts ? choosePart(io, places, signal) : "postponed";
}

async function choosePart(
  io: PlainIO,
  places: readonly Place[],
  signal: AbortSignal | undefined,
): Promise<ApplyAnswer> {
  const chosen: Place[] = [];
  for (const place of places) {
    io.say(who, `${nameOf(place)}\n1 apply\n2 leave it out\nA number. Anything else ends it, and nothing is written.`);
    const said = (await io.ask(signal))?.trim();
    if (said === "1") chosen.push(place);
    else if (said !== "2") return signal?.aborted ? false : "postponed";
  }
  if (chosen.length === places.length) return true;
  io.say(who, "What was left out\n1 stays pending\n2 is discarded\nA number. Anything else keeps it pending.");
  const rest = (await io.ask(signal))?.trim() === "2" ? "discard" : "keep";
  if (signal?.aborted) return false;
  const why = rest === "discard" ? { reason: await reasonFor(io, signal) } : {};
  if (chosen.length === 0 && rest === "keep") return "postponed";
  return { apply: partOf(chosen), rest, ...why };
}

function partOf(chosen: readonly Place[]): { files?: string[]; hunks?: Record<string, number[]> } {
  const files = chosen.filter(({ hunk }) => !hunk).flatMap(filesOf);
  const hunks: Record<string, number[]> = {};
  for (const { file, hunk } of chosen) if (hunk) hunks[file.path] = [...(hunks[file.path] ?? []), hunk.number];
  return { ...(files.length > 0 ? { files } : {}), ...(Object.keys(hunks).length > 0 ? { hunks } : {}) };
}

function nameOf({ file, hunk, git }: Place): string {
  if (git !== undefined) return writtenOut(git);
  return `${writtenOut(file.path)}${hunk ? `, hunk ${hunk.number} of ${file.hunks.length}` : ""}`;
}

async function reasonFor(io: PlainIO, signal: AbortSignal | undefined): Promise<string> {
  io.say(who, "Why? An empty line says nothing more.");
  return (await io.ask(signal))?.trim() || "discarded in review";
}
