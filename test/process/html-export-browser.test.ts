// F-72 in short: hostile sessions as pages in a real browser. The long form is bench/fault-html.mjs. Skipped where no
// browser is installed; what the pages may hold is then proved by src/html/export-html.test.ts alone.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Rig, runAttacks } from "../../bench/kit-html/attacks.mjs";
import { findBrowser } from "../../bench/kit-html/browser.mjs";
import { exportHtml } from "../../src/html/export-html.js";
import { sourceOf } from "../../src/html/page.test-kit.js";

const browserPath = findBrowser();
const why = browserPath === undefined ? " (skipped: no Chromium or Chrome on the PATH)" : "";
const exportPage = (sessionText: string) => exportHtml(sourceOf(sessionText));

describe.skipIf(browserPath === undefined)(`an exported page in a browser${why}`, () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await Rig.start(browserPath ?? "");
  }, 60_000);
  afterAll(() => rig.stop());

  it("F-72: runs no script, asks for nothing and holds no strange part, with its policy and without", async () => {
    const { pages, problems, ...figures } = await runAttacks({ rig, exportPage, count: 20, seed: 1 });
    expect(problems).toEqual([]);
    expect(figures).toEqual({ scriptRuns: 0, requests: 0, dialogs: 0, violations: 0, strangeParts: 0 });
    expect(pages).toBe(40);
  }, 60_000);

  it("would be caught by every trap if it did", async () => {
    const elsewhere = "http://127.0.0.1:9/elsewhere";
    const attack = `<form onsubmit="1"><img src="/hit"><link rel="stylesheet" href="${elsewhere}"><script>window.__ran = 1; alert("hello");</script></form>`;
    const page = `<!doctype html><html><head></head><body>${attack}</body></html>`;
    const { strangeParts, requests, ...deeds } = await rig.open(page, { bypass: false });
    expect(deeds).toEqual({ scriptRuns: ["flag"], dialogs: ["hello"], violations: [] });
    expect(requests).toEqual(expect.arrayContaining(["/hit", elsewhere]));
    expect(strangeParts).toEqual(expect.arrayContaining(["form onsubmit", expect.stringContaining("/hit")]));
  });

  it("is held back by its policy even where a script got into it", async () => {
    const good = await exportPage('{"type":"session","version":3,"id":"x","timestamp":"","cwd":"/"}\n');
    const page = good.replace("</main>", '<script>window.__ran = 1</script><img src="/other"></main>');
    const held = await rig.open(page, { bypass: false });
    expect(held.scriptRuns).toEqual([]);
    expect(held.requests).not.toContain("/other");
    expect(held.violations.length).toBeGreaterThan(1);
    const free = await rig.open(page, { bypass: true });
    expect(free.scriptRuns).toEqual(["flag"]);
    expect(free.requests).toContain("/other");
  });
});
