// The review view with 50,000 changed lines against 500: from a key to the rows of the screen, in this process.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildModule } from "../kit/build-module.mjs";
import { alternate, expect, row } from "../kit/measure.mjs";

const rounds = 5;
const presses = 20;
const size = [120, 40];

export async function reviewView() {
  const directory = mkdtempSync(join(tmpdir(), "galley-bench-"));
  try {
    const contents = `
      export { ReviewView } from "./tui/review/review-view.js";
      export { plainTheme } from "./extensions/compat/theme.js";
    `;
    const built = await import(await buildModule(directory, { name: "review-view", contents }));
    const few = await openView(built, 500);
    const many = await openView(built, 50_000);
    const samples = await alternate(rounds, { few: () => measure(few, 500), many: () => measure(many, 50_000) });
    few.close();
    many.close();
    return ["PgDn", "G", "find"].map((name) =>
      row({
        name: `review of 50,000 lines: ${name}`,
        unit: "ms",
        samples: samples.many.flatMap((sample) => sample[name]),
        against: { name: "of 500 lines", samples: samples.few.flatMap((sample) => sample[name]) },
        limit: 2,
      }),
    );
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function openView({ ReviewView, plainTheme }, count) {
  const half = count / 2;
  const side = (sign, name) => Array.from({ length: half }, (_, index) => `${sign}${name}(${index}, "some text");`);
  const lines = [...side("-", "total"), ...side("+", "sum")];
  const hunk = { number: 1, oldStart: 1, oldLines: half, newStart: 1, newLines: half, lines };
  const about = {
    path: "a.js",
    shown: "a.js",
    kind: "modify",
    added: half,
    removed: half,
    hunks: 1,
    size: 1,
    sha256: "",
  };
  const action = {
    key: "pa_1",
    label: "Rename",
    sourceToolName: "ast_edit",
    createdAt: 0,
    kind: "plan",
    status: "pending",
  };
  const source = {
    actions: async () => [{ ...action, revision: 1, files: [about], prompt: "", restsOn: [], text: "" }],
    changes: async () => [],
    diff: async () => ({ revision: 1, files: [{ path: "a.js", kind: "modify", hunks: [hunk] }] }),
    subscribe: () => () => {},
  };
  const host = { source, theme: plainTheme, now: () => performance.now(), draw() {}, close() {}, leave() {} };
  const view = new ReviewView(host);
  await view.start();
  return view;
}

function measure(view, count) {
  const timed = (...keys) => {
    const start = performance.now();
    for (const key of keys) view.handleInput(key);
    const shown = view.render(...size).join("\n");
    return { ms: performance.now() - start, shown };
  };
  const figures = { PgDn: [], G: [], find: [] };
  timed("g");
  for (let press = 0; press < presses; press++) figures.PgDn.push(timed("\u001b[6~").ms);
  const last = `sum(${count / 2 - 1}, `;
  for (let press = 0; press < presses; press++) {
    timed("g");
    const end = timed("G");
    expect(end.shown.includes(last), "G does not show the last line");
    figures.G.push(end.ms);
    timed("g");
    timed("/");
    const found = timed(`\u001b[200~${last}\u001b[201~`);
    expect(found.shown.includes(last), "the line was not found");
    figures.find.push(found.ms);
    timed("\u001b");
  }
  return figures;
}
