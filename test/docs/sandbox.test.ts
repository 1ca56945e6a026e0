// docs/sandbox.md against the code: the commands of its network section run, its entries and figures are what they say.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { settingKeys, settingOf } from "../../src/config/settings/schema.js";
import { isHostEntry, isListed, parseHostEntry } from "../../src/processes/network/allow-list.js";
import { parseTarget } from "../../src/processes/network/host.js";
import { answerOf, exchange, openGate, testNetwork } from "../../src/processes/network/network.test-kit.js";
import { ensureBuilt } from "../kit/rpc-host.js";
import { emptyHome, galleyBin, projectRoot, run } from "../kit/run-galley.js";

beforeAll(ensureBuilt, 150_000);

const { home, env, remove } = emptyHome();
afterAll(remove);

const page = readFileSync(join(projectRoot, "docs/sandbox.md"), "utf8");
const section = (title: string) => page.split(`\n## ${title}\n`)[1]?.split("\n## ")[0] ?? "";

it("shows commands that open hosts", async () => {
  const [, script = ""] = /```sh\n(.*?)```/s.exec(section("Opening a host")) ?? [];
  expect(script.trim().split("\n")).toHaveLength(3);
  const galley = `galley() { "${process.execPath}" "${galleyBin}" "$@"; }; set -e`;
  const { code, stdout, stderr } = await run("sh", ["-c", `${galley}\n${script}`], { env, cwd: home });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain('["registry.npmjs.org","*.example.com:8443","localhost:5432"]');
});

it("lists entries that match as they say", () => {
  const texts = section("Opening a host")
    .split("\n")
    .filter((line) => /^\| `/.test(line))
    .flatMap((line) => [...(line.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text));
  expect(texts.length).toBeGreaterThan(5);
  const matches = (text: string, authority: string) => {
    const entry = parseHostEntry(text);
    const target = parseTarget(authority);
    return isHostEntry(entry) && target !== undefined && isListed([entry], target);
  };
  for (const text of texts) {
    const own = /:\d+$/.test(text) ? text : `${text.replace("*", "a")}:443`;
    expect([text, matches(text, own), matches(text, own.replace(/\d+$/, "9999"))]).toEqual([text, true, false]);
  }
  expect(matches("*.example.com", "example.com:443")).toBe(false);
});

it("quotes what the proxy says", async () => {
  const { port } = await openGate({ hosts: [], network: testNetwork({}) });
  const text = await exchange(port, "CONNECT registry.example:443 HTTP/1.1\r\nHost: x\r\n\r\n");
  expect(answerOf(text).status).toBe(403);
  expect(page).toContain(`\n${answerOf(text).body}\n`);
});

it("names the settings of commands with their defaults", () => {
  const named = [...page.matchAll(/`((?:bash|stage)\.[\w]+)`(?: \(([\d,]+)( MiB| GiB)?\))?/g)];
  const keys = settingKeys.filter((key) => /^(?:stage\.|bash\.(?:network|hosts|hide|show|unixSockets))/.test(key));
  const missing = keys.filter((key) => !named.some(([, name]) => name === key) && !page.includes(`\`${key}:`));
  expect(missing).toEqual([]);
  const units: Record<string, number> = { "": 1, " MiB": 2 ** 20, " GiB": 2 ** 30 };
  const figures = named.filter(([, , figure]) => figure !== undefined);
  expect(figures.length).toBeGreaterThan(5);
  for (const [, name = "", figure = "", unit = ""] of figures)
    expect([name, settingOf(name as (typeof keys)[number]).default]).toEqual([
      name,
      Number(figure.replaceAll(",", "")) * (units[unit] ?? 0),
    ]);
});
