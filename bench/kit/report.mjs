// The table for people and the figures for programs.

import { cpus, loadavg } from "node:os";

export function header() {
  const load = loadavg()[0].toFixed(1);
  return [
    `galley bench: Node ${process.version}, ${process.platform} ${process.arch}, ${cpus().length} CPUs, load ${load}`,
    "Lower quartiles; galley and its references take turns within this run. A budget is a ratio, no absolute time.",
    "bare: node -e 0. floor: bench/floor.mjs, the least a program without libraries must do.",
  ].join("\n");
}

export function table(rows) {
  const heads = ["row", "galley", "against", "ratio", "budget", ""];
  const cells = rows.map(({ name, unit, value, against, ratio, limit, verdict }) => [
    `${name}, ${unit}`,
    figure(value, unit),
    `${against.name} ${figure(against.value, unit)}`,
    `${ratio.toFixed(2)} x`,
    limit === undefined ? "-" : `<= ${limit.toFixed(2)} x`,
    verdict,
  ]);
  const widths = heads.map((head, column) => Math.max(head.length, ...cells.map((cell) => cell[column].length)));
  const isLeft = (column) => column === 0 || column === heads.length - 1;
  const print = (cell) =>
    cell
      .map((text, column) => (isLeft(column) ? text.padEnd(widths[column]) : text.padStart(widths[column])))
      .join("  ")
      .trimEnd();
  return [heads, widths.map((width) => "-".repeat(width)), ...cells].map(print).join("\n");
}

export function figures(rows, failures) {
  const machine = { node: process.version, platform: process.platform, arch: process.arch, cpus: cpus().length };
  return `${JSON.stringify({ at: new Date().toISOString(), machine, statistic: "lower quartile", rows, failures }, null, 1)}\n`;
}

function figure(value, unit) {
  const digits = unit === "bytes" ? 0 : unit === "MB" ? 3 : value < 10 ? 2 : 1;
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
