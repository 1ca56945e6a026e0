// Session files: opening small and large ones, listing many, appending to short and long ones.

import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../kit/agent.mjs";
import { alternate, expect, pluck, row } from "../kit/measure.mjs";

export async function sessions() {
  const scratch = mkdtempSync(join(tmpdir(), "galley-bench-sessions-"));
  try {
    return [...(await opening(scratch)), ...(await listing(scratch)), ...(await appending(scratch))];
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

async function opening(scratch) {
  const sizes = {
    "20 MB": makeSession(join(scratch, "a.jsonl"), 5000),
    "200 MB": makeSession(join(scratch, "b.jsonl"), 50_000),
  };
  const rows = [];
  const medium = {};
  for (const [size, { path, entries, bytes }] of Object.entries(sizes)) {
    const samples = await alternate(size === "20 MB" ? 5 : 2, {
      floor: () => work("floor", path),
      galley: () => work("open", path),
    });
    expect(
      samples.galley.every(({ messages }) => messages === entries),
      `the ${size} session lost messages`,
    );
    const against = { name: "floor", samples: pluck(samples.floor, "ms") };
    rows.push(
      row({
        name: `open a session of ${size}, context included`,
        unit: "ms",
        samples: pluck(samples.galley, "ms"),
        against,
        limit: 1.3,
      }),
    );
    medium[size] = pluck(samples.galley, "ms");
    const file = { name: "file", samples: [bytes / 2 ** 20] };
    rows.push(
      row({
        name: `peak memory for that, ${size}`,
        unit: "MiB",
        samples: pluck(samples.galley, "peakMiB"),
        against: file,
        limit: size === "20 MB" ? undefined : 3,
      }),
    );
  }
  rows.push(
    row({
      name: "growth of opening, 20 MB to 200 MB (x 10)",
      unit: "ms",
      samples: medium["200 MB"],
      against: { name: "20 MB", samples: medium["20 MB"] },
      limit: 11.5,
    }),
  );
  return rows;
}

async function listing(scratch) {
  const few = makeFolder(join(scratch, "few"), 500);
  const many = makeFolder(join(scratch, "many"), 2000);
  const samples = await alternate(3, { few: () => work("list", few), many: () => work("list", many) });
  expect(
    samples.many.every(({ found }) => found === 2000),
    "not every session was listed",
  );
  const against = (key) => ({ name: "500", samples: pluck(samples.few, key) });
  return [
    row({
      name: "list 2,000 sessions",
      unit: "ms",
      samples: pluck(samples.many, "ms"),
      against: against("ms"),
      limit: 4.6,
    }),
    row({
      name: "peak memory for that",
      unit: "MiB",
      samples: pluck(samples.many, "peakMiB"),
      against: against("peakMiB"),
      limit: 1.2,
    }),
  ];
}

async function appending(scratch) {
  const folder = join(scratch, "append");
  mkdirSync(folder);
  const samples = await alternate(3, {
    short: () => work("append", folder, 10),
    long: () => work("append", folder, 100_000),
  });
  const against = { name: "at 10", samples: pluck(samples.short, "ms") };
  return [
    row({
      name: "append 2,000 entries at 100,000",
      unit: "ms",
      samples: pluck(samples.long, "ms"),
      against,
      limit: 1.5,
    }),
  ];
}

function work(task, path, count = 0) {
  const script = join(root, "bench/kit/session-work.mjs");
  return JSON.parse(execFileSync(process.execPath, [script, task, path, String(count)], { encoding: "utf8" }));
}

const header = (id) => ({ type: "session", version: 3, id, timestamp: "2026-01-01T00:00:00.000Z", cwd: "/bench" });

function entry(index, text) {
  const id = index.toString(16).padStart(8, "0");
  const parentId = index === 0 ? null : (index - 1).toString(16).padStart(8, "0");
  const message = { role: "user", content: [{ type: "text", text }], timestamp: index };
  return JSON.stringify({ type: "message", id, parentId, timestamp: "2026-01-01T00:00:01.000Z", message });
}

/** About 4 KB an entry. */
function makeSession(path, entries) {
  const text = "A line of a long conversation. ".repeat(130);
  writeFileSync(path, `${JSON.stringify(header("bench"))}\n`);
  for (let start = 0; start < entries; start += 1000)
    appendFileSync(path, Array.from({ length: 1000 }, (_, index) => `${entry(start + index, text)}\n`).join(""));
  return { path, entries, bytes: statSync(path).size };
}

function makeFolder(path, count) {
  mkdirSync(path);
  for (let index = 0; index < count; index++)
    writeFileSync(
      join(path, `2026-01-01T00-00-00-000Z_${index}.jsonl`),
      `${JSON.stringify(header(`id-${index}`))}\n${entry(0, `question ${index} `.repeat(50))}\n`,
    );
  return path;
}
