// Fills the marked region of docs/settings.md with tables made from the settings of the code. `node
// scripts/settings-tables.mjs` fails when the page is old; with `--write` it brings the page up to date.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { argv } from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const pagePath = join(root, "docs/settings.md");
const region = /(<!-- generated: settings -->\n)[\s\S]*?(<!-- end -->)/;

const page = readFileSync(pagePath, "utf8");
if (!region.test(page)) throw new Error("docs/settings.md has no region for the settings");
const tables = tablesOf(await currentSettings());
const fresh = page.replace(region, (_, open, close) => `${open}\n${tables}\n${close}`);
if (argv.includes("--write")) writeFileSync(pagePath, fresh);
else if (fresh !== page) {
  console.log("docs/settings.md is old: run npm run docs");
  process.exitCode = 1;
}

/** Of the sources as they are, not of what was built last. */
async function currentSettings() {
  const { build } = await import("esbuild");
  const directory = mkdtempSync(join(tmpdir(), "galley-settings-"));
  try {
    const outfile = join(directory, "settings.mjs");
    const contents = 'export * from "./schema.js"; export * from "./describe-settings.js";';
    const stdin = { contents, resolveDir: join(root, "src/config/settings"), loader: "ts" };
    await build({ stdin, outfile, bundle: true, format: "esm", platform: "node", logLevel: "warning" });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function tablesOf({ settingGroups, settingTable }) {
  const heading = "| Setting | Values | Default | A project may set it | |\n|---|---|---|---|---|\n";
  const groups = Object.entries(settingGroups).map(([title, sentences]) => {
    const rows = Object.entries(sentences).map(([key, sentence]) => {
      const setting = settingTable[key];
      return `| \`${key}\` | ${valuesOf(setting.kind)} | ${usualOf(setting)} | ${rightsOf(setting)} | ${sentence} |\n`;
    });
    return `## ${title}\n\n${heading}${rows.join("")}`;
  });
  return groups.join("\n");
}

function valuesOf(kind) {
  switch (kind.type) {
    case "boolean":
      return "`true`, `false`";
    case "choice":
      return kind.values.map((value) => `\`${value}\``).join(", ");
    case "number":
      return `${kind.isWhole ? "whole, " : ""}${kind.min} to ${kind.max}`;
    case "list":
      return `list of ${kind.of ?? "text"}s`;
    case "record":
      return kind.of === "text" ? "texts by name" : "lists of texts by name";
    default:
      return kind.type;
  }
}

function usualOf({ default: usual }) {
  return usual === undefined ? "–" : `\`${JSON.stringify(usual)}\``;
}

function rightsOf({ projectMay, stricter }) {
  const always = { set: "yes", never: "no", narrow: "stricter only" };
  if (projectMay !== "when-trusted") return always[projectMay];
  return stricter === undefined ? "when trusted" : "when trusted, or stricter";
}
