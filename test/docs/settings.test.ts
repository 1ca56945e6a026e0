// docs/settings.md against the table in the code: every setting, its values, its default and what a project may do to it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeSetting } from "../../src/config/settings/describe-settings.js";
import { isWithoutEffect, settingKeys, settingOf } from "../../src/config/settings/schema.js";
import type { Kind, Setting } from "../../src/config/settings/setting.js";
import { ensureBuilt } from "../kit/rpc-host.js";
import { emptyHome, galleyBin, projectRoot, run } from "../kit/run-galley.js";

beforeAll(ensureBuilt, 150_000);

const { home, env, remove } = emptyHome();
afterAll(remove);

const page = readFileSync(join(projectRoot, "docs/settings.md"), "utf8");
const rows = [...page.matchAll(/^\| `([\w.]+)` \| (.*?) \| (.*?) \| (.*?) \| (.+) \|$/gm)];

it("has every setting in one row, as it is", () => {
  const told = rows.map(([, key = "", values, usual, project, sentence]) => ({
    key,
    values,
    usual,
    project,
    sentence,
  }));
  const expected = settingKeys.map((key) => ({
    key,
    values: valuesOf(settingOf(key).kind),
    usual: usualOf(key),
    project: rightsOf(settingOf(key)),
    sentence: describeSetting(key),
  }));
  expect(byKey(told)).toEqual(byKey(expected));
});

it("says nothing of settings without effect", () => {
  const named = [...page.matchAll(/`([\w.]+)`/g)].map(([, name = ""]) => name);
  expect(named.filter(isWithoutEffect)).toEqual([]);
});

it("shows commands that work", async () => {
  const [, script = ""] = /```sh\n(.*?)```/s.exec(page) ?? [];
  const lines = script.trim().split("\n");
  expect(lines).toHaveLength(4);
  for (const line of lines) {
    const words = line.replace(/#.*$/, "").trim().split(/\s+/).slice(1);
    const { code, stderr } = await run(process.execPath, [galleyBin, ...words], { env, cwd: home });
    expect({ line, code, stderr }).toEqual({ line, code: 0, stderr: "" });
  }
  const { stdout } = await run(process.execPath, [galleyBin, "config", "get", "retry.maxRetries"], { env, cwd: home });
  expect(stdout).toBe("3\n");
});

function valuesOf(kind: Kind): string {
  switch (kind.type) {
    case "boolean":
      return "`true`, `false`";
    case "choice":
      return kind.values.map((value) => `\`${value}\``).join(", ");
    case "number":
      return `${kind.isWhole ? "whole, " : ""}${kind.min} to ${kind.max}`;
    case "text":
      return "text";
    case "list":
      return `list of ${kind.of ?? "text"}s`;
    case "record":
      return kind.of === "text" ? "texts by name" : "lists of texts by name";
  }
}

function usualOf(key: (typeof settingKeys)[number]): string {
  const { default: usual } = settingOf(key);
  return usual === undefined ? "–" : `\`${JSON.stringify(usual)}\``;
}

function rightsOf({ projectMay, stricter }: Setting<unknown>): string {
  const always = { set: "yes", never: "no", narrow: "stricter only" };
  if (projectMay !== "when-trusted") return always[projectMay];
  return stricter === undefined ? "when trusted" : "when trusted, or stricter";
}

function byKey<T extends { key: string }>(list: readonly T[]): T[] {
  return list.toSorted((a, b) => a.key.localeCompare(b.key));
}
