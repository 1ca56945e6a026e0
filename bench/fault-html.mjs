// `node bench/fault-html.mjs [COUNT [SEED]]`: the long form of test/process/html-export-browser.test.ts. Opens that many hostile
// sessions as pages in a real browser, each with its content policy and without; the exit code says whether all of them
// kept still.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Rig, runAttacks } from "./kit-html/attacks.mjs";
import { findBrowser } from "./kit-html/browser.mjs";
import { buildExport } from "./kit-html/build.mjs";

const [count = 500, seed = 1] = process.argv.slice(2).map(Number);
const browserPath = findBrowser();
if (browserPath === undefined) {
  console.error("No Chromium or Chrome on the PATH: nothing was tried.");
  process.exit(1);
}

const directory = mkdtempSync(join(tmpdir(), "galley-fault-"));
const rig = await Rig.start(browserPath);
const started = performance.now();
try {
  const { exportHtml, sourceOf } = await buildExport(directory);
  const exportPage = (sessionText) => exportHtml(sourceOf(sessionText));
  const { problems, pages, ...figures } = await runAttacks({ rig, exportPage, count, seed });
  console.log(`hostile sessions as pages (${((performance.now() - started) / 1000).toFixed(1)} s)`);
  for (const [name, value] of Object.entries({ pages, ...figures })) console.log(`  ${name.padEnd(22)}${value}`);
  for (const problem of problems.slice(0, 10)) console.log(`  ! ${problem}`);
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  await rig.stop();
  rmSync(directory, { recursive: true, force: true });
}
