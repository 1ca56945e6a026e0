// For tests of exported pages: a session from the text of its file, and a strict reader of pages. The reader knows
// only what an export may hold, written down once more and independently; anything else is a problem.

import { EntryTree } from "../record/entry-tree.js";
import { SessionReader } from "../record/read/read-entries.js";
import { createMemoryBlobs } from "../record/store/blobs.js";
import type { ExportSource } from "./export-html.js";

export function sourceOf(sessionText: string): ExportSource {
  const reader = new SessionReader("x.jsonl");
  reader.push(Buffer.from(sessionText));
  const { header, entries } = reader.end();
  return { header, tree: new EntryTree(header, entries), blobs: createMemoryBlobs() };
}

const headLines = [
  /^<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-[\w+/]{43}='; img-src data:; base-uri 'none'; form-action 'none'">$/,
  /^<meta charset="utf-8">$/,
  /^<meta name="generator" content="galley session export">$/,
  /^<meta name="viewport" content="width=device-width, initial-scale=1">$/,
  /^<meta name="referrer" content="no-referrer">$/,
  /^<meta http-equiv="x-dns-prefetch-control" content="off">$/,
  /^<link rel="icon" href="data:,">$/,
];

const link = /^(?:https?:\/\/|mailto:)[!-~]+$/;
const attributesOf: Record<string, Record<string, RegExp>> = {
  a: { href: link, rel: /^noopener noreferrer$/ },
  img: {
    alt: /^image$/,
    decoding: /^async$/,
    src: /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/,
  },
  input: { type: /^checkbox$/, id: /^show-(?:tools|thinking)$/, checked: /^$/ },
  details: { class: /^(?:tool|tool error|thinking|summary|live)$/, open: /^$/ },
  time: { datetime: /^[+-]?\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/ },
  ol: { start: /^\d{1,9}$/ },
  th: { class: /^(?:right|center)$/ },
  td: { class: /^(?:right|center)$/ },
  span: { class: /^(?:add|del|hunk|file|same|model|mark|mark bad)$/, id: /^e\d+$/, title: /./s },
  div: { class: /^(?:page|prose|output)$/, dir: /^auto$/ },
  article: { class: /^(?:user|assistant|custom|execution)$/ },
  pre: { class: /^(?:plain|diff|command)$/ },
  p: { class: /^(?:note|note thinking|label|problem|filters)$/ },
};
const plainElements =
  "body header main footer nav summary h1 h2 h3 h4 h5 h6 dl dt dd ul li code b em strong del blockquote table thead tbody tr label br hr";
const elements = new Set([...plainElements.split(" "), ...Object.keys(attributesOf)]);
const voids = new Set(["img", "br", "hr", "input"]);

/** Sentences on what is wrong with a page; none for a good one. */
export function problemsOf(page: string): string[] {
  const [, head = "", title = "", style = "", body = ""] =
    /^<!doctype html>\n<html lang="en">\n<head>\n([\s\S]*?)<title>([^<>]*)<\/title>\n<style>([^<]*)<\/style>\n<\/head>\n(<body>[\s\S]*<\/body>)\n<\/html>\n$/.exec(
      page,
    ) ?? [];
  if (body === "") return ["the frame is not that of an export"];
  const lines = head.trimEnd().split("\n");
  const strangeLines = lines.filter((line, index) => !headLines[index]?.test(line));
  const problems = [...strangeLines.map((line) => `head: ${line}`), ...problemsOfText(title)];
  if (lines.length !== headLines.length) problems.push("the head has lost or gained a line");
  if (/url\(|@import|expression/i.test(style)) problems.push("the style loads something");
  const strange = /(?!\n|\t|\u200c|\u200d)[\p{Cc}\p{Bidi_Control}\p{Cs}\u2028\u2029]/u.exec(page);
  if (strange) problems.push(`a hidden character: ${strange[0].codePointAt(0)?.toString(16)}`);
  return [...problems, ...problemsOfBody(body)];
}

function problemsOfBody(body: string): string[] {
  const problems: string[] = [];
  const open: string[] = [];
  const piece = /<(\/?)([a-z][a-z0-9]*)((?: [a-z-]+(?:="[^"<>]*")?)*)>|([^<]+)|(<)/g;
  for (const [whole, slash, name = "", attributes = "", text, stray] of body.matchAll(piece)) {
    if (text !== undefined) problems.push(...problemsOfText(text));
    else if (stray !== undefined || !elements.has(name)) problems.push(`no element of ours: ${whole.slice(0, 80)}`);
    else if (slash === "/") {
      if (open.pop() !== name || attributes !== "") problems.push(`closes what is not open: ${whole}`);
    } else {
      problems.push(...problemsOfAttributes(name, attributes));
      if (!voids.has(name)) open.push(name);
    }
  }
  return open.length === 0 ? problems : [...problems, `left open: ${open.join(" ")}`];
}

function problemsOfText(text: string): string[] {
  const isSafe = !/[<>]/.test(text) && !/&(?!amp;|lt;|gt;|#34;|#39;)/.test(text);
  return isSafe ? [] : [`not escaped: ${text.slice(0, 80)}`];
}

function problemsOfAttributes(element: string, attributes: string): string[] {
  const found = [...attributes.matchAll(/ ([a-z-]+)(?:="([^"]*)")?/g)].map(([, name = "", value = ""]) => ({
    name,
    value,
  }));
  const jump = element === "a" && found.length === 1 && /^#e\d+$/.test(found[0]?.value ?? "");
  if (jump && found[0]?.name === "href") return [];
  const strange = found.filter(({ name, value }) => {
    const allowed = Object.hasOwn(attributesOf, element) ? attributesOf[element] : undefined;
    return !allowed?.[name]?.test(value) || problemsOfText(value).length > 0;
  });
  const isLinkWithoutRel = element === "a" && !found.some(({ name }) => name === "rel");
  return [...strange, ...(isLinkWithoutRel ? [{ name: "no rel", value: "" }] : [])].map(
    ({ name, value }) => `attribute of ${element}: ${name}=${value.slice(0, 80)}`,
  );
}
