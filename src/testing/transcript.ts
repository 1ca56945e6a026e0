// Transcripts: tests that read as documentation. `>` lines go in, `<` lines come out, `#` lines are remarks, and a
// line `model:`, `files:`, `settings:`, `rules:`, `extension:` or `disk: temporary` before the first frame is a setting.
// With an extension the host can be asked. A line `~ 500` lets half a second pass. "…" matches any value.

import { GalleyError, messageOf } from "../base/errors.js";
import { isObject } from "../base/json.js";
import { call, calls, fail, type ScriptStep, say, textBlock } from "./scripted-model.js";

export interface Transcript {
  model: ScriptStep[];
  files: Record<string, string>;
  /** Settings that differ from the default, and stream rules by name, each the text of its file. */
  settings: Record<string, unknown>;
  rules: Record<string, string>;
  /** The name of a module whose dialogs the host answers. */
  extension?: string;
  /** The files lie in a directory of their own on the real disk, and commands are real ones. */
  isOnDisk: boolean;
  /** The model can think. */
  thinks: boolean;
  steps: { direction: ">" | "<" | "~"; text: string; line: number }[];
}

/** The other end: takes lines, gives frames one by one. */
export interface TranscriptPeer {
  send(line: string): void;
  /** The next frame, parsed; rejects when none comes. */
  receive(): Promise<unknown>;
  /** Moves its clock on. */
  advance(ms: number): void;
}

export const anyValue = "…";

export function parseTranscript(text: string): Transcript {
  const transcript: Transcript = {
    model: [],
    files: {},
    settings: {},
    rules: {},
    isOnDisk: false,
    thinks: false,
    steps: [],
  };
  for (const [index, raw] of text.split("\n").entries()) {
    const line = raw.trimEnd();
    const body = line.slice(2);
    if (line === "" || line.startsWith("#")) continue;
    if (line.startsWith("model: ")) transcript.model = (JSON.parse(line.slice(7)) as unknown[]).map(readStep);
    else if (line.startsWith("files: ")) transcript.files = JSON.parse(line.slice(7)) as Record<string, string>;
    else if (line.startsWith("settings: ")) transcript.settings = JSON.parse(line.slice(10)) as Record<string, unknown>;
    else if (line.startsWith("rules: ")) transcript.rules = JSON.parse(line.slice(7)) as Record<string, string>;
    else if (line.startsWith("extension: ")) transcript.extension = line.slice(11);
    else if (line === "disk: temporary") transcript.isOnDisk = true;
    else if (line === "model thinks") transcript.thinks = true;
    else if (line.startsWith("> ")) transcript.steps.push({ direction: ">", text: body, line: index + 1 });
    else if (line.startsWith("< ")) transcript.steps.push({ direction: "<", text: body, line: index + 1 });
    else if (line.startsWith("~ ")) transcript.steps.push({ direction: "~", text: body, line: index + 1 });
    else throw new GalleyError("script_mismatch", `Line ${index + 1}: neither a frame nor a setting: ${line}`);
  }
  return transcript;
}

/** Throws with the line that did not hold. */
export async function playTranscript({ steps }: Transcript, peer: TranscriptPeer): Promise<void> {
  for (const { direction, text, line } of steps) {
    if (direction === ">") {
      peer.send(text);
      continue;
    }
    if (direction === "~") {
      peer.advance(Number(text));
      continue;
    }
    const expected: unknown = JSON.parse(text);
    const received = await peer.receive().catch((error: unknown) => {
      throw new GalleyError("script_mismatch", `Line ${line}: ${messageOf(error)}. Expected ${text}`);
    });
    const difference = firstDifference(expected, received, "frame");
    if (difference)
      throw new GalleyError("script_mismatch", `Line ${line}: ${difference}\nReceived ${JSON.stringify(received)}`);
  }
}

/** `{"say": ["a", "b"]}`, `{"call": {...}}`, `{"calls": [...]}`, `{"fail": "text"}`, `{"stall": ["a"]}`. */
function readStep(value: unknown): ScriptStep {
  if (isObject(value)) {
    if (Array.isArray(value.say)) return say(...(value.say as string[]));
    if (isObject(value.call))
      return call(String(value.call.name), value.call.args, value.call.id as string | undefined);
    if (Array.isArray(value.calls)) return calls(...(value.calls as Parameters<typeof calls>));
    if (typeof value.fail === "string") return fail(value.fail);
    // Sends the pieces of a text and then nothing more, until the run is aborted.
    if (Array.isArray(value.stall))
      return [
        { type: "start" },
        ...textBlock(0, value.stall as string[]).slice(0, -1),
        () => new Promise<void>(() => {}),
      ];
  }
  throw new GalleyError("script_mismatch", `Unknown model step: ${JSON.stringify(value)}`);
}

function firstDifference(expected: unknown, received: unknown, path: string): string | undefined {
  if (expected === anyValue && received !== undefined) return undefined;
  if (Array.isArray(expected) && Array.isArray(received)) {
    if (expected.length !== received.length)
      return `${path} has ${received.length} items instead of ${expected.length}`;
    for (const [index, item] of expected.entries()) {
      const difference = firstDifference(item, received[index], `${path}[${index}]`);
      if (difference) return difference;
    }
    return undefined;
  }
  if (isObject(expected) && isObject(received)) {
    for (const key of new Set([...Object.keys(expected), ...Object.keys(received)])) {
      const difference = firstDifference(expected[key], received[key], `${path}.${key}`);
      if (difference) return difference;
    }
    return undefined;
  }
  if (Object.is(expected, received)) return undefined;
  return `${path} is ${JSON.stringify(received)} instead of ${JSON.stringify(expected)}`;
}
