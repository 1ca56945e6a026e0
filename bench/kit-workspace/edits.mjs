// F-27: files of every kind, put together from parts that are known, edited by the real tool on the real disk, and
// compared with what must come out: the bytes, the mode, the links.

import { chmod, link, lstat, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buildModule } from "../kit/build-module.mjs";
import { randomFrom } from "../kit-session/random.mjs";

/** Answers the path of a module that exports what `runEdits` takes as `tools`. */
export function buildEditsModule(directory) {
  const contents = `
    export { createEdit } from "./tools/edit.ts";
    export { SeenFiles } from "./tools/seen-files.ts";
    export { createNodeWorkspace } from "./files/node-workspace.ts";`;
  return buildModule(directory, { name: "edits", contents });
}

const endings = { lf: ["\n"], crlf: ["\r\n"], cr: ["\r"], mixed: ["\n", "\r\n"], mixedWithCr: ["\n", "\r\n", "\n\r"] };
const encodings = {
  ascii: ["plain", "  indented", "\ttab", ""],
  utf8: ["naïve", "日本語", "😀", "e\u0301"],
  // As bytes: these are no UTF-8.
  latin1: ["caf\u00e9", "\u00ff \u00fe", "\u0080"],
  nul: ["a\0b", "\0\0"],
};
const modes = [0o644, 0o755, 0o600, 0o664, 0o2755];
const kinds = ["plain", "symlink", "hardlink"];

/** `largeBytes`: the size of one more file, edited at its beginning and its end. */
export async function runEdits({ tools, directory, count, seed, largeBytes }) {
  const random = randomFrom(seed);
  const place = join(directory, "edits");
  const figures = { edits: 0, changedBytes: 0, changedModes: 0, changedLinks: 0, refused: 0, wronglyRefused: 0 };
  const problems = [];
  for (let round = 0; round < count; round++) {
    await mkdir(place, { recursive: true });
    const run = { tools, place, figures, tell: (problem) => problems.push(`round ${round}: ${problem}`) };
    if (random.below(12) === 0) await editUtf16(run, random);
    else await editOne(run, makeCase(random), { kind: random.pick(kinds), mode: random.pick(modes) });
    await rm(place, { recursive: true });
  }
  if (largeBytes > 0) {
    await mkdir(place, { recursive: true });
    const run = { tools, place, figures, tell: (problem) => problems.push(`large file: ${problem}`) };
    await editOne(run, largeCase(largeBytes), { kind: "plain", mode: 0o644 });
    await rm(place, { recursive: true });
  }
  return { ...figures, problems };
}

/** The bytes before, what the model sends, and the bytes that must come out. */
function makeCase(random) {
  const isCr = random.below(6) === 0;
  const style = isCr ? "cr" : random.pick(["lf", "crlf", "mixed", "mixedWithCr"]);
  const encoding = random.pick(Object.keys(encodings));
  const isBytes = encoding === "latin1";
  const bytes = (text) => Buffer.from(text, isBytes ? "latin1" : "utf8");
  const lines = () =>
    Array.from({ length: random.below(8) }, () => random.pick(encodings[encoding]) + random.pick(endings[style])).join(
      "",
    );
  // Lines that stand nowhere else, with endings of any kind; some are changed, and every other byte has to stay.
  const chosen = Array.from({ length: 1 + random.below(4) }, (_, index) => ({
    text: `unique ${index} {`,
    ending: random.pick(isCr ? ["\r"] : endings[style].slice(0, 2)),
    isChanged: index === 0 || random.below(2) === 0,
  }));
  const file = (edited) =>
    chosen.map(({ text, ending, isChanged }) => (edited && isChanged ? `${text} changed` : text) + ending).join("");
  const sent = (edited) => file(edited).replace(/\r\n?/g, "\n");
  const mark = random.below(3) === 0 ? Buffer.from([0xef, 0xbb, 0xbf]) : Buffer.alloc(0);
  // With a last line feed cut off, what follows the chosen lines ends in none.
  const [head, tail] = [lines(), random.below(2) === 0 ? lines() : "last"];
  const whole = (edited) => Buffer.concat([mark, bytes(head), bytes(file(edited)), bytes(tail)]);
  return {
    before: whole(false),
    after: whole(true),
    edits: [{ old_text: sent(false), new_text: sent(true) }],
    name: `${style} ${encoding}`,
  };
}

function largeCase(size) {
  const filler = Buffer.alloc(size, "a line of a long file\r\n");
  const whole = (first, last) => Buffer.concat([Buffer.from(`${first}\r\n`), filler, Buffer.from(`\n${last}`)]);
  return {
    before: whole("<first>", "<last>"),
    after: whole("<1>\r\n<2>", "<end>"),
    edits: [
      { old_text: "<first>", new_text: "<1>\n<2>" },
      { old_text: "<last>", new_text: "<end>" },
    ],
    name: "large",
  };
}

async function editOne({ tools, place, figures, tell }, { before, after, edits, name }, { kind, mode }) {
  const [file, other] = [join(place, "file.txt"), join(place, "other.txt")];
  await writeFile(file, before);
  await chmod(file, mode);
  if (kind === "symlink") await symlink("file.txt", other);
  if (kind === "hardlink") await link(file, other);
  const path = kind === "symlink" ? "other.txt" : "file.txt";
  const result = await edit(
    tools,
    place,
    edits.map((each) => ({ path, ...each })),
  ).catch((error) => error);
  figures.edits++;
  if (result instanceof Error) {
    figures.wronglyRefused++;
    return tell(`${name} ${kind}: ${result.message}`);
  }
  if (!(await readFile(file)).equals(after)) {
    figures.changedBytes++;
    tell(
      `${name} ${kind}: ${JSON.stringify([before, after, await readFile(file)].map((bytes) => bytes.toString("latin1").slice(0, 300)))}`,
    );
  }
  if (((await lstat(file)).mode & 0o7777) !== mode) figures.changedModes++;
  const isLinked = kind !== "symlink" || (await lstat(other)).isSymbolicLink();
  const keepsOther = kind !== "hardlink" || (await readFile(other)).equals(before);
  const saysSo = (result.details.hardlinkBroken === true) === (kind === "hardlink");
  if (!isLinked || !keepsOther || !saysSo) figures.changedLinks++;
}

async function editUtf16({ tools, place, figures, tell }, random) {
  const bytes = Buffer.from("\ufefftext in two bytes\r\n", "utf16le");
  if (random.below(2) === 0) bytes.swap16();
  const file = join(place, "file.txt");
  await writeFile(file, bytes);
  const result = await edit(tools, place, [{ path: "file.txt", old_text: "text", new_text: "words" }]).catch(
    (error) => error,
  );
  if (result instanceof Error && result.message.includes("UTF-16")) figures.refused++;
  else tell("UTF-16 was not refused");
  if (!(await readFile(file)).equals(bytes)) figures.changedBytes++;
}

function edit({ createEdit, createNodeWorkspace, SeenFiles }, cwd, edits) {
  // Written at once, with nothing staged and nothing kept.
  const staging = { mode: () => "auto", staged: () => [], note: async () => async () => {}, wrote: async () => {} };
  const tool = createEdit({ workspace: createNodeWorkspace({ cwd, home: cwd }), seen: new SeenFiles(), staging });
  return tool.execute("call_1", { edits }, undefined, () => {}, { cwd });
}
