// docs/sandbox.md against the code: the commands of its network section run, its entries and figures are what they say.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { settingKeys, settingOf } from "../../src/config/settings/schema.js";
import { isHostEntry, isListed, parseHostEntry } from "../../src/processes/network/allow-list.js";
import { parseTarget } from "../../src/processes/network/host.js";
import { answerOf, exchange, openGate, testNetwork } from "../../src/processes/network/network.test-kit.js";
import { ensureBuilt } from "../kit/rpc-host.js";
import { emptyHome, galleyBin, projectRoot, run } from "../kit/run-galley.js";
import { sandboxAbility } from "../kit/sandbox-rig.js";

await ensureBuilt();
const { noView } = sandboxAbility();
if (noView !== undefined) it.skip(`skipped: commands cannot be staged here: ${noView}`, () => {});

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

it.skipIf(noView !== undefined)("shows commands that stage, apply and undo", async () => {
  const [, script = ""] = /```sh\n(.*?)```/s.exec(section("Staged commands")) ?? [];
  expect(script).toContain("galley exec --stage -- ");
  const cwd = join(home, "project");
  mkdirSync(cwd);
  const galley = `galley() { "${process.execPath}" "${galleyBin}" "$@"; }; set -e`;
  const seen = script.trim().split("\n").join("\nls >&3\n");
  const outcome = await run("sh", ["-c", `exec 3>seen.log\n${galley}\n${seen}\nls >&3`], { env, cwd });
  expect(outcome.code, outcome.stderr).toBe(0);
  expect(outcome.stdout).toContain("hello\n");
  expect(outcome.stdout).toMatch(/^pa_1 +pending /m);
  const listings = readFileSync(join(cwd, "seen.log"), "utf8").trim().split("seen.log");
  expect(listings.map((text) => text.includes("note.txt"))).toEqual([false, false, false, true, false, false]);
});

it.skipIf(noView !== undefined)("shows the result of a staged command as it is", async () => {
  const cwd = join(home, "result");
  for (const name of ["old", "src"]) mkdirSync(join(cwd, name), { recursive: true });
  writeFileSync(join(cwd, ".gitignore"), "build/\n");
  writeFileSync(join(cwd, "old/two.txt"), "x\n");
  writeFileSync(join(cwd, "src/cart.ts"), "a\nb\nc\n");
  const bind = "require('net').createServer().listen('build.sock', () => process.kill(process.pid, 'SIGKILL'))";
  const command = [
    "rm old/two.txt; printf 'a\\n1\\n2\\n3\\nc\\n' > src/cart.ts; seq 20 > src/money.ts; ln -s money.ts src/price.ts",
    `mkdir build; for i in $(seq 12); do head -c 96119 /dev/zero > build/$i; done; "${process.execPath}" -e "${bind}"; true`,
  ].join("; ");
  const show = `bash.show=${JSON.stringify([dirname(process.execPath)])}`; // a Node below /tmp is in a hidden place
  const words = [galleyBin, "exec", "--stage", "--set", "bash.network=off", "--set", show, "--", "sh", "-c", command];
  const { stderr } = await run(process.execPath, words, { env, cwd });
  const [, shown = ""] = /```text\n(Staged as .*?)```/s.exec(section("Staged commands")) ?? [];
  expect(stderr.replace(/^Killed\n/, "").replace(/ pa_\d+ /, " pa_7 ")).toContain(shown);
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
