// Files of every make, read, changed in one place and written back: nothing else about them may change.

import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { join } from "node:path";
import { randomFrom } from "../kit-session/random.mjs";
import { withoutSync } from "./paths-build.mjs";

/** `largeBytes` is the size of one file more, written at the end. */
export async function runFidelity({ module, directory, count, seed, largeBytes }) {
  const { createWorkspace, nodeDisk } = await import(module);
  const random = randomFrom(seed);
  const root = fs.realpathSync(fs.mkdtempSync(join(directory, "fidelity-")));
  const options = { cwd: root, home: join(root, "home"), agentDir: join(root, "agent") };
  const workspace = createWorkspace(withoutSync(nodeDisk), options);
  const figures = { files: 0, links: 0, hardLinks: 0, bytesChanged: 0, modesChanged: 0, linksBroken: 0, leftOvers: 0 };
  const problems = [];

  const tryOne = async (number, content) => {
    const name = `${number}.${random.pick(["ts", "txt", "bin", "ü"])}`;
    const path = join(root, name);
    fs.writeFileSync(path, content);
    if (process.getuid() === 0 && random.below(4) === 0) fs.chownSync(path, 1000 + random.below(9), 2000);
    fs.chmodSync(path, random.pick([0o644, 0o755, 0o600, 0o640, 0o664, 0o700, 0o666, 0o2755, 0o1644, 0o2644]));
    const before = fs.statSync(path);
    const way = random.pick(["direct", "direct", "link", "hard link"]);
    const other = `${name}.${way}`;
    if (way === "link") fs.symlinkSync(name, join(root, other));
    if (way === "hard link") fs.linkSync(path, join(root, other));
    const { span, text, wanted } = changeOf(content, random);

    const input = way === "link" ? other : name;
    const read = await workspace.readFile(await workspace.resolve(input, "read"), { maxBytes: 2 ** 31 });
    const bytes = Buffer.concat([read.bytes.subarray(0, span[0]), text, read.bytes.subarray(span[1])]);
    const expected = createHash("sha256").update(read.bytes).digest("hex");
    const outcome = await workspace.writeFile(await workspace.resolve(input, "write"), { bytes, expected });

    figures.files++;
    const after = fs.statSync(path);
    if (!fs.readFileSync(path).equals(wanted)) figures.bytesChanged++;
    if (after.mode !== before.mode || after.uid !== before.uid || after.gid !== before.gid) figures.modesChanged++;
    if (way === "link") {
      figures.links++;
      if (fs.readlinkSync(join(root, other)) !== name) figures.linksBroken++;
    }
    if (way === "hard link") {
      figures.hardLinks++;
      if (!fs.readFileSync(join(root, other)).equals(content)) figures.linksBroken++;
    }
    if ((outcome.hardlinkBroken === true) !== (way === "hard link") || outcome.created)
      problems.push(`${name}, ${way}: ${JSON.stringify(outcome)}`);
    for (const left of fs.readdirSync(root)) {
      if (left !== name && left !== other) figures.leftOvers++;
      fs.rmSync(join(root, left));
    }
  };

  for (let number = 0; number < count; number++) await tryOne(number, contentFrom(random));
  await tryOne("large", Buffer.alloc(largeBytes, "0123456789abcde\n"));
  fs.rmSync(root, { recursive: true });
  return { ...figures, problems };
}

/** A span to replace, what to put there, and the file that has to come of it. */
function changeOf(content, random) {
  const start = random.below(content.length + 1);
  const end = Math.min(content.length, start + random.below(50));
  const text = Buffer.from(random.pick(["", "x", "new text\n", "ü\r\n", "\u0000"]));
  return {
    span: [start, end],
    text,
    wanted: Buffer.concat([content.subarray(0, start), text, content.subarray(end)]),
  };
}

const lines = ["", "one", "const a = 1;", "Grüße", "日本語", "tab\there", "a\u0000b", "\u2028", "x".repeat(5000)];
const lineEnds = ["\n", "\r\n", "\r", "\n\r"];
const marks = [[], [0xef, 0xbb, 0xbf], [0xff, 0xfe], [0xfe, 0xff]];

function contentFrom(random) {
  const ends = random.below(3) === 0 ? lineEnds : [random.pick(lineEnds)];
  let text = "";
  for (let count = random.below(12); count > 0; count--) text += random.pick(lines) + random.pick(ends);
  if (random.below(2) === 0) text += "no end of line";
  const encoding = random.pick(["utf8", "utf8", "utf16le", "latin1"]);
  const noise = random.below(4) === 0 ? Array.from({ length: 64 }, () => random.below(256)) : [];
  return Buffer.concat([Buffer.from(random.pick(marks)), Buffer.from(text, encoding), Buffer.from(noise)]);
}
