// Lines of a journal with one bit changed. None of them counts, nor does anything behind them.

import { decodeRecords, encodeRecord } from "../records.js";
import type { RunResult } from "./crash-runs.test-kit.js";

export function runDamagedRecords(): RunResult {
  const run: RunResult = { points: 0, problems: [] };
  const lines = [{ type: "begin", note: "é\u0000\n" }, { type: "commit" }, { type: "end", result: "applied" }].map(
    encodeRecord,
  );
  const [first = new Uint8Array(), second = new Uint8Array()] = lines;
  const whole = Buffer.concat(lines);
  for (let at = 0; at < second.length * 8; at++) {
    run.points++;
    const damaged = Buffer.from(whole);
    const byte = first.length + (at >> 3);
    damaged[byte] = (damaged[byte] ?? 0) ^ (1 << (at & 7));
    const { records, soundBytes } = decodeRecords(damaged);
    if (records.length !== 1 || soundBytes !== first.length)
      run.problems.push(`bit ${at} of a record makes no difference`);
  }
  return run;
}
