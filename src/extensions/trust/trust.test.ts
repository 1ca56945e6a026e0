import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makePlace, type Place } from "../../../bench/kit-trust/place.mjs";
import { systemClock } from "../../base/clock.js";
import { findConfigRoots } from "../../config/config-roots.js";
import { itemKey, type ProjectDigest, type TrustItem } from "./digest-project.js";
import { revokeTrust, saveTrust } from "./save-trust.js";
import { type DecideTrustOptions, decideTrust, grantOf } from "./trust.js";
import { trustQuestion, visible } from "./trust-question.js";
import { listTrust } from "./trust-store.js";
import { surveyProject } from "./trust-survey.js";

let place: Place;
let file: string;
beforeEach(() => {
  place = makePlace();
  file = join(place.home, ".galley/trust.json");
  place.write({ "home/repo/.galley/tools/a.ts": 'import "../lib/b"', "home/repo/.galley/lib/b.ts": "" });
});
afterEach(() => place.remove());

const clock = { ...systemClock, now: () => Date.UTC(2026, 0, 2) };
const survey = (cwd = place.repo) => {
  const configRoot = join(place.home, ".galley");
  const { roots } = findConfigRoots({ cwd, home: place.home, agentDir: join(configRoot, "agent"), configRoot });
  return surveyProject({ cwd, home: place.home, roots });
};
const decide = async (options: Partial<DecideTrustOptions> & { cwd?: string } = {}) =>
  decideTrust({ project: (await survey(options.cwd)).project, file, ...options });
const state = async (options?: Parameters<typeof decide>[0]) => (await decide(options)).state;
const record = async (decision: "trusted" | "untrusted", cwd?: string) =>
  saveTrust((await survey(cwd)).project, decision, { file, clock });

/** The same item of another survey. */
const again = (project: ProjectDigest) => (item: TrustItem) =>
  project.items.find((other) => itemKey(other) === itemKey(item)) as TrustItem;

describe("decideTrust", () => {
  it("T-1, T-5: is undecided without a decision of the user", async () => {
    expect(await state()).toBe("undecided");
  });

  it("T-3: remembers a digest, and none other", async () => {
    await record("trusted");
    expect(await decide()).toMatchObject({ state: "trusted", by: "earlier decision" });
    place.write({ "home/repo/.galley/lib/b.ts": "evil()", "home/repo/.galley/tools/c.ts": "" });
    expect(await decide()).toMatchObject({
      state: "undecided",
      changedSince: {
        decidedAt: "2026-01-02T00:00:00.000Z",
        added: [".galley/tools/c.ts"],
        removed: [],
        changed: [".galley/lib/b.ts"],
      },
    });
    await record("untrusted");
    expect(await state()).toBe("untrusted");
  });

  it("knows more than one state of a project, until it is revoked", async () => {
    await record("trusted");
    place.write({ "home/repo/.galley/lib/b.ts": "2" });
    await record("trusted");
    expect(await state()).toBe("trusted");
    place.write({ "home/repo/.galley/lib/b.ts": "" });
    expect(await state()).toBe("trusted");
    expect(await revokeTrust(place.repo, { file, clock })).toBe(true);
    expect(await state()).toBe("undecided");
    expect(await revokeTrust(place.repo, { file, clock })).toBe(false);
  });

  it("T-4: does not cover a repository below, nor the same files elsewhere", async () => {
    await record("trusted");
    place.write({ "home/repo/inner/.galley/tools/a.ts": 'import "../lib/b"', "home/repo/inner/.galley/lib/b.ts": "" });
    mkdirSync(join(place.repo, "inner/.git"));
    expect(await state({ cwd: join(place.repo, "inner") })).toBe("undecided");
    expect(await state()).toBe("trusted");
    expect(await state({ cwd: join(place.repo, ".galley") })).toBe("trusted");
  });

  it("T-3: what was trusted and has not changed stays trusted, item by item", async () => {
    const tools = (names: string[]) => names.map((name) => `.galley/tools/${name}.ts`);
    place.write({
      "home/repo/.galley/tools/b.ts": "",
      "home/repo/.galley/tools/c.ts": 'import "../lib/d.js"',
      "home/repo/.galley/lib/d.ts": 'import "./b"',
      "home/repo/.mcp.json": '{"mcpServers":{"db":{"command":"db"}}}',
    });
    await record("trusted");
    const trusted = async () => {
      const { state, trusted, items } = await decide();
      const { project } = await survey();
      const covered = items.filter(({ name }) => {
        const { coverage } = grantOf(project, { state, trusted: new Set([...trusted].map(again(project))) });
        return coverage?.isCovered(join(place.repo, name));
      });
      return { state, names: [...trusted].map(({ name }) => name), covered: covered.map(({ name }) => name) };
    };
    place.write({ "home/repo/.galley/tools/b.ts": "evil()" });
    expect(await trusted()).toEqual({
      state: "undecided",
      names: [...tools(["a", "c"]), ".mcp.json#db"],
      covered: [...tools(["a", "c"]), ".galley/lib/b.ts", ".galley/lib/d.ts"],
    });
    place.write({ "home/repo/.galley/tools/b.ts": "", "home/repo/.galley/lib/b.ts": "evil()" });
    expect((await trusted()).names).toEqual([...tools(["b"]), ".mcp.json#db"]);
    expect((await trusted()).covered).toEqual(tools(["b"]));
    place.write({ "home/repo/.galley/lib/b.ts": "", "home/repo/.mcp.json": '{"mcpServers":{"db":{"command":"x"}}}' });
    expect((await trusted()).names).toEqual(tools(["a", "b", "c"]));
  });

  it("a no is about the same items in every later state", async () => {
    await record("trusted");
    await record("untrusted");
    place.write({ "home/repo/.galley/tools/c.ts": "" });
    expect(await decide()).toMatchObject({ state: "undecided", trusted: new Set() });
    expect(await decide({ projectModules: "allow" })).toMatchObject({ state: "untrusted" });
    const { trusted } = await decide({ projectModules: "allow" });
    expect([...trusted].map(({ name }) => name)).toEqual([".galley/tools/c.ts"]);
  });

  it("settings count all or none", async () => {
    const look = async (settings: Record<string, unknown>) => {
      const policy = Object.entries(settings).map(([key, value]) => ({ file: join(place.repo, "s"), key, value }));
      const configRoot = join(place.home, ".galley");
      const around = { cwd: place.repo, home: place.home, configRoot, agentDir: join(configRoot, "agent") };
      const { roots } = findConfigRoots(around);
      return (await surveyProject({ ...around, roots, settings: policy })).project;
    };
    const grant = async (settings: Record<string, unknown>) => {
      const project = await look(settings);
      return grantOf(project, decideTrust({ project, file })).areSettingsTrusted;
    };
    await saveTrust(await look({ shellPath: "/bin/sh", customTools: [] }), "trusted", { file, clock });
    place.write({ "home/repo/.galley/tools/new.ts": "" });
    expect(await grant({ shellPath: "/bin/sh", customTools: [] })).toBe(true);
    expect(await grant({ shellPath: "/bin/sh" })).toBe(false);
    expect(await grant({ shellPath: "/tmp/sh", customTools: [] })).toBe(false);
  });

  it("counts records of earlier versions as a whole, and only so", async () => {
    await record("trusted");
    writeFileSync(file, readFileSync(file, "utf8").replace(/,\s*"digest": "[^"]*"(?=\s*\})/g, ""));
    expect(listTrust(file).records[0]?.items.every((item) => !("digest" in item))).toBe(true);
    expect(await state()).toBe("trusted");
    place.write({ "home/repo/.galley/tools/c.ts": "" });
    expect(await decide()).toMatchObject({ state: "undecided", trusted: new Set() });
  });

  it("T-5: trusts for one run without writing it down", async () => {
    expect(await decide({ isTrustedForThisRun: true })).toMatchObject({ state: "trusted", by: "command line" });
    expect(listTrust(file)).toEqual({ records: [] });
  });

  it("listens to the user's settings: a no to one beats a yes to all, and a no to all beats a yes to one", async () => {
    expect(await state({ projectModules: "allow" })).toBe("trusted");
    await record("untrusted");
    expect(await state({ projectModules: "allow" })).toBe("untrusted");
    await record("trusted");
    expect(await state({ projectModules: "deny" })).toBe("untrusted");
  });

  it("T-6: does not trust another user's directory without being told", async () => {
    const owners = [(process.getuid?.() ?? 0) + 1];
    expect(await decide({ projectModules: "allow", owners })).toMatchObject({ state: "undecided", isForeign: true });
    await record("trusted");
    expect(await state({ owners })).toBe("trusted");
  });
});

describe("the file of decisions", () => {
  it("T-2: does not count if it is inside the project", async () => {
    const inside = join(place.repo, "trust.json");
    await record("trusted");
    writeFileSync(inside, readFileSync(file));
    expect(await decide({ file: inside })).toMatchObject({
      state: "undecided",
      problem: expect.stringContaining("lies in"),
    });
    place.write({ "home/links/trust.json": `-> ${inside}` });
    expect(await state({ file: join(place.home, "links/trust.json") })).toBe("undecided");
    const { project } = await survey();
    await expect(saveTrust(project, "trusted", { file: inside, clock })).rejects.toMatchObject({
      code: "file_refused",
    });
  });

  it("is private, and does not count when others could write it", async () => {
    await record("trusted");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    chmodSync(file, 0o666);
    expect(await decide()).toMatchObject({ state: "undecided", problem: expect.stringContaining("other users") });
  });

  it.each([
    ["broken", "{", "is damaged"],
    ["of another shape", "[]", "is damaged"],
    ["with a broken record", '{"version":1,"records":[{}]}', "is damaged"],
    ["of a later version", '{"version":2,"records":[]}', "was written by another version of galley"],
  ])("decides nothing when it is %s, and is not written over", async (_, text, reason) => {
    place.write({ "home/.galley/trust.json": text });
    expect(await decide()).toMatchObject({
      state: "undecided",
      problem: `${file} ${reason}; no project is trusted by it`,
    });
    await expect(record("trusted")).rejects.toMatchObject({ code: "invalid_config" });
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  it("loses nothing when several write at once", async () => {
    const roots = Array.from({ length: 20 }, (_, index) => `/p${index}`);
    await Promise.all(roots.map((root) => saveTrust({ root, digest: "d", items: [] }, "trusted", { file, clock })));
    expect(
      listTrust(file)
        .records.map(({ root }) => root)
        .sort(),
    ).toEqual(roots.sort());
  });

  it("forgets the oldest before it becomes too long to be read", async () => {
    const items = Array.from({ length: 2000 }, (_, index) => ({
      kind: "file" as const,
      name: `${index}`.padEnd(300),
      hash: "h",
    }));
    for (let index = 0; index < 6; index++)
      await saveTrust({ root: `/p${index}`, digest: "d", items }, "trusted", { file, clock });
    expect(listTrust(file).records.map(({ root }) => root)).toEqual(["/p4", "/p5"]);
    expect(statSync(file).size).toBeLessThan(4_000_000);
  });

  it("keeps the last twenty states of a project", async () => {
    for (let index = 0; index < 25; index++)
      await saveTrust({ root: "/p", digest: `${index}`, items: [] }, "trusted", { file, clock });
    expect(listTrust(file).records.map(({ digest }) => digest)).toEqual(
      Array.from({ length: 20 }, (_, index) => `${index + 5}`),
    );
  });
});

describe("trustQuestion", () => {
  it("lists every item with its path and its whole command", async () => {
    place.write({
      "home/repo/.mcp.json": JSON.stringify({
        mcpServers: { "d\u001bb": { command: "sh", args: ["-c", "rm -rf ~ # \u202e"] } },
      }),
      "home/repo/.galley/tools/a.ts": 'import "../lib/b"; import(x)',
    });
    const { title, lines } = trustQuestion(await decide());
    expect(title).toBe(`Trust ${place.repo} to run its own code?`);
    expect(lines).toEqual([
      "Tools it would load:",
      "  .galley/tools/a.ts (puts names of files together in line 1)",
      "Servers it would start or ask:",
      '  ".mcp.json#d\\u001bb" runs sh -c "rm -rf ~ # \\u202e" = {"command":"sh","args":["-c","rm -rf ~ # \\u202e"]}',
      "Files that these load:",
      "  .galley/lib/b.ts",
    ]);
  });

  it("shows what changed", async () => {
    await record("trusted");
    place.write({ "home/repo/.galley/lib/b.ts": "2" });
    expect(trustQuestion(await decide()).lines.slice(0, 2)).toEqual([
      "Since it was trusted on 2026-01-02T00:00:00.000Z:",
      "  changed .galley/lib/b.ts",
    ]);
  });

  it.each([
    ["plain/name.ts", "plain/name.ts"],
    ["ünïcode.ts", "ünïcode.ts"],
    ["a b", '"a b"'],
    ["a\nb\u001b[2J", '"a\\nb\\u001b[2J"'],
    ["zero\u200bwidth", '"zero\\u200bwidth"'],
    ["tag\u{e0041}", '"tag\\u{e0041}"'],
    ["x\ufe0f", '"x\\ufe0f"'],
    ["a\u00a0b", '"a\\u00a0b"'],
    ["a\u3164b", '"a\\u3164b"'],
    [`a${" ".repeat(40)}b`, '"a⟨40 spaces⟩b"'],
    ["⟨40 spaces⟩", '"\\u27e840 spaces\\u27e9"'],
    ['"', '"\\""'],
  ])("makes %j visible", (text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it("shortens with a count", () => {
    expect(visible("x".repeat(5000))).toBe(`${"x".repeat(4000)}⟨1000 more characters⟩`);
  });
});
