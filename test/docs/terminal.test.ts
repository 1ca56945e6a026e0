// The tables of docs/terminal.md against those in the code: every key and every command in one row, as it is.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { settingKeys } from "../../src/config/settings/schema.js";
import { slashCommands } from "../../src/tui/command-table.js";
import { reviewKeys } from "../../src/tui/review/review-keys.js";
import { appKeys } from "../../src/tui/terminal-keys.js";
import { projectRoot } from "../kit/run-galley.js";

const page = readFileSync(join(projectRoot, "docs/terminal.md"), "utf8");
const rowsOf = (heading: string) => {
  const section =
    page
      .slice(page.indexOf(`\n## ${heading}\n`))
      .slice(1)
      .split("\n## ")[0] ?? "";
  return section.split("\n").filter((line) => line.startsWith("| `"));
};
const keyRows = (table: Readonly<Record<string, { keys: readonly string[]; help: string }>>) =>
  Object.entries(table)
    .filter(([, { keys }]) => keys.length > 0)
    .map(([action, { keys, help }]) => `| ${keys.map((key) => `\`${key}\``).join(" ")} | ${help} | \`${action}\` |`);

it("has every key", () => {
  expect(rowsOf("Keys")).toEqual(keyRows(appKeys));
  expect(rowsOf("The review view")).toEqual(keyRows(reviewKeys));
});

it("has every command", () => {
  const rows = Object.entries(slashCommands).map(([name, { usage, help }]) => {
    const written = `${name} ${usage}`.trim().replaceAll("|", "\\|");
    return `| \`/${written}\` | ${help} |`;
  });
  expect(rowsOf("Commands")).toEqual(rows);
});

it("names the settings of a terminal, all of them and no other", () => {
  const [, listed = ""] = /\n## Settings\n\n(.*?): see\n?/s.exec(page) ?? [];
  const isOfTerminals = (key: string) => /^(?:access|theme|notifications|terminal\..*|approval\..*)$/.test(key);
  expect([...listed.matchAll(/`([^`]+)`/g)].map(([, key]) => key).sort()).toEqual(
    settingKeys.filter(isOfTerminals).sort(),
  );
});
