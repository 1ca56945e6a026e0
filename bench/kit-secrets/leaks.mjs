// Looks for a secret in everything that a visit left: in any of its forms, and in parts of twelve characters or more.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const minPart = 12;

/** Every text whose presence is a leak. */
export function tracesOf(secret) {
  const json = (text) => JSON.stringify(text).slice(1, -1);
  const whole = [secret, json(secret), json(json(secret)), encodeURIComponent(secret)];
  const encoded = [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]);
    const [first, end] = [Math.ceil((before * 4) / 3), Math.floor((bytes.length * 4) / 3)];
    return ["base64", "base64url"].map((alphabet) => bytes.toString(alphabet).slice(first, end));
  });
  return new Set([...whole, ...encoded].flatMap((form) => partsOf(form, form.length > 3 * minPart ? 16 : minPart)));
}

function partsOf(form, length) {
  return Array.from({ length: Math.max(1, form.length - length + 1) }, (_, at) => form.slice(at, at + length));
}

export function hasTrace(text, traces) {
  for (const trace of traces) if (text.includes(trace)) return trace;
  return undefined;
}

/** The files below a directory, but for those that hold exact bytes by design. */
export function filesBelow(directory, { except }) {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !except(path.slice(directory.length + 1)))
    .map((path) => ({ path, text: readFileSync(path, "latin1") }));
}

/** What a host adds up: all deltas of one kind, block by block. */
export function joinedDeltas(frames) {
  const texts = {};
  for (const { type, assistantMessageEvent: inner } of frames)
    if (type === "message_update" && typeof inner.delta === "string")
      texts[inner.type] = `${texts[inner.type] ?? ""}${inner.delta}`;
  return texts;
}
