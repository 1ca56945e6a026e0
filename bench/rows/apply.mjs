// Preview and apply of 1 to 1,000 files through RPC, against a plain program that writes the same bytes safely: beside the
// file, synced, renamed. Growth is told as the cost of ten times as many files.

import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { Agent, galley, workspace } from "../kit/agent.mjs";
import { alternate, expect, pluck, row } from "../kit/measure.mjs";

const counts = [1, 10, 100, 1000];
const rounds = 3;
const filler = "export const filler = 1;\n".repeat(150); // about 4 KB a file, as sources are
const place = join(workspace, "apply");

export async function apply() {
  const rows = [];
  let last;
  for (const count of counts) {
    const samples = await alternate(rounds, { plain: () => writePlainly(count), galley: () => previewAndApply(count) });
    const plain = { name: "plain writes", samples: samples.plain };
    const previews = pluck(samples.galley, "previewMs");
    const applies = pluck(samples.galley, "applyMs");
    rows.push(row({ name: `preview of ${count} files`, unit: "ms", samples: previews, against: plain }));
    // Where plain writes of a thousand files take half a second, as on an idle machine, this is two seconds.
    const limit = count === 1000 ? { limit: 4 } : {};
    rows.push(row({ name: `apply of ${count} files`, unit: "ms", samples: applies, against: plain, ...limit }));
    if (last)
      rows.push(
        row({
          name: `apply, ${count} against ${last.count} files`,
          unit: "ms",
          samples: applies,
          against: { name: `${last.count} files`, samples: last.applies },
          limit: 11.5,
        }),
      );
    last = { count, applies };
  }
  return rows;
}

function plant(count) {
  rmSync(place, { recursive: true, force: true });
  for (let index = 0; index < count; index++) {
    const directory = join(place, `d${index % 20}`);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, `f${index}.ts`), `oldName(${index});\n${filler}`);
  }
}

async function previewAndApply(count) {
  plant(count);
  const agent = new Agent(galley);
  try {
    await agent.ready;
    const askedAt = performance.now();
    const previewMs = (await agent.prompt("replace oldName($A) with newName($A) in apply")) - askedAt;
    const answered = agent.arrival('"command":"resolve_pending_action"');
    const decidedAt = performance.now();
    agent.send({ id: "a", type: "resolve_pending_action", action: "apply", reason: "bench" });
    const applyMs = (await answered) - decidedAt;
    await agent.close();
    const { data } = agent.frames().find(({ id }) => id === "a");
    expect(
      data?.text === `Applied ${count} replacement${count === 1 ? "" : "s"} in ${count} file${count === 1 ? "" : "s"}.`,
      `not applied: ${data?.text}`,
    );
    expect(readFileSync(join(place, "d0/f0.ts"), "utf8").startsWith("newName(0);"), "the bytes are not there");
    return { previewMs, applyMs };
  } finally {
    agent.kill();
  }
}

function writePlainly(count) {
  plant(count);
  const startedAt = performance.now();
  for (let index = 0; index < count; index++) {
    const path = join(place, `d${index % 20}`, `f${index}.ts`);
    const descriptor = openSync(`${path}.new`, "wx");
    writeSync(descriptor, `newName(${index});\n${filler}`);
    fsyncSync(descriptor);
    closeSync(descriptor);
    renameSync(`${path}.new`, path);
  }
  return performance.now() - startedAt;
}
