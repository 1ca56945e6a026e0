// `galley import` of the built program: what it would copy and what it leaves, that it writes only when it may, and never
// over what the user has. Where a user is told of it.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { builtInThemes } from "../../src/tui/theme/colours.js";
import { openTerminal } from "../kit/open-terminal.js";
import { ensureBuilt } from "../kit/rpc-host.js";
import { emptyHome, galleyBin, run } from "../kit/run-galley.js";
import { tmuxVersion, withoutTmux } from "../kit/tmux.js";

beforeAll(ensureBuilt, 150_000);

let place: ReturnType<typeof emptyHome>;
beforeEach(() => {
  place = emptyHome();
});
afterEach(() => place.remove());

const put = (path: string, content: string | object, home = place.home) => {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), typeof content === "string" ? content : JSON.stringify(content));
};
const read = (path: string) => readFileSync(join(place.home, path), "utf8");
const galley = (...args: string[]) => run(process.execPath, [galleyBin, ...args], { env: place.env, cwd: place.home });

const theme = JSON.stringify({ name: "sea", vars: {}, colors: builtInThemes.dark });

function putPi(home = place.home): void {
  put(
    ".pi/agent/settings.json",
    {
      ...{
        defaultProvider: "zebra",
        defaultModel: "z1",
        defaultThinkingLevel: "max",
        theme: "sea",
        quietStartup: true,
      },
      ...{ steeringMode: "all", compaction: { enabled: false, reserveTokens: 9000 }, sessionDir: "/elsewhere" },
      retry: { provider: { timeoutMs: 5 } },
    },
    home,
  );
  const models = [
    { id: "z1", contextWindow: 64000, promptCache: { short: 300 } },
    { id: "odd", api: "bedrock-converse-stream" },
  ];
  put(
    ".pi/agent/models.json",
    {
      providers: {
        zebra: { baseUrl: "https://zebra.example/v1", api: "openai-completions", apiKey: "$ZEBRA_API_KEY", models },
        broken: { api: "openai-completions", models: [{ id: "b" }] },
      },
    },
    home,
  );
  put(".pi/agent/themes/sea.json", theme, home);
  put(".pi/agent/themes/bad.json", "{", home);
  put(".pi/agent/auth.json", {}, home);
}

it("shows what it would copy and what it leaves, and writes nothing by itself", async () => {
  putPi();
  const { code, stdout, stderr } = await galley("import", "pi");
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(
    /^From ~\/\.pi\/agent\nSettings, into config\.yml:\n(?: {2}.*\n)*? {2}steeringMode: all\n(?: {2}.*\n)*Models, into models\.yml:\n {2}zebra \(1 model\)\nThemes, into themes:\n {2}sea\nLeft:\n/,
  );
  for (const line of [
    "  modelRoles.default: zebra/z1",
    "  theme: sea",
    "  compaction.enabled: false",
    "  compaction.reserveTokens: 9000",
    '  defaultThinkingLevel: "max" is ignored, expected one of off, minimal, low, medium, high, xhigh',
    "  quietStartup: galley does not have it",
    "  sessionDir: it names places or programs, or decides what is allowed: yours to set",
    "  provider zebra, models: promptCache: galley does not have it",
    "  auth.json: store keys with  galley login",
  ])
    expect(stdout.split("\n")).toContain(line);
  expect(stdout).toMatch(/^ {2}model zebra\/odd: models\[1\]\.api expected one of/m);
  expect(stdout).toMatch(/^ {2}provider broken: baseUrl is required/m);
  expect(stdout).toMatch(/^ {2}theme bad: /m);
  expect(stdout).toMatch(/^ {2}retry\.provider.*: /m);
  expect(stdout).toMatch(/\nNothing was written\. To write it: {2}galley import pi --yes\n$/);
  expect(existsSync(join(place.home, ".galley/agent/config.yml"))).toBe(false);
});

it("writes with --yes, and never over what the user has", async () => {
  putPi();
  put(".galley/agent/config.yml", "# mine\nsteeringMode: one-at-a-time\n");
  put(
    ".galley/agent/models.yml",
    "# services\nproviders:\n  acme:\n    baseUrl: https://a.example\n    api: openai-completions\n",
  );
  put(".galley/agent/themes/sea.json", "mine");
  const { code, stdout, stderr } = await galley("import", "pi", "--yes");
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("  steeringMode: galley has its own\n");
  expect(stdout).toContain("  theme sea: galley has its own\n");
  expect(stdout).toMatch(/\nCopied into ~\/\.galley\/agent\n$/);
  expect(read(".galley/agent/config.yml")).toMatch(/^# mine\nsteeringMode: one-at-a-time\n/);
  expect((await galley("config", "get", "modelRoles.default")).stdout).toContain("zebra/z1");
  expect((await galley("config", "get", "compaction.reserveTokens")).stdout).toContain("9000");
  expect(read(".galley/agent/models.yml")).toMatch(
    /^# services\nproviders:\n {2}acme:\n {4}baseUrl: https:\/\/a\.example\n/,
  );
  const models = await run(process.execPath, [galleyBin, "models", "--all", "--provider", "zebra"], {
    env: { ...place.env, ZEBRA_API_KEY: "k" },
    cwd: place.home,
  });
  expect([models.stderr, models.stdout]).toEqual(["", expect.stringMatching(/^zebra\/z1 \* +64k/m)]);
  expect(read(".galley/agent/themes/sea.json")).toBe("mine");
  const again = await galley("import", "pi", "--yes");
  expect(again.stdout).toMatch(/\nThere is nothing to copy\.\n$/);
});

it("makes the files where there are none, also from omp", async () => {
  put(".omp/agent/config.yml", "followUpMode: all\nmodelRoles:\n  smol: acme/small\napproval:\n  mode: never\n");
  put(
    ".omp/agent/models.yml",
    "providers:\n  acme:\n    baseUrl: https://a.example/v1\n    api: openai-completions\n    auth: none\n    models:\n      - id: small\n",
  );
  const { stdout } = await galley("import", "omp", "--yes");
  expect(stdout).toContain("  approval.mode: it names places or programs");
  expect((await galley("config", "get", "followUpMode")).stdout).toContain("all");
  expect((await galley("models")).stdout).toMatch(/^acme\/small/m);
});

it("is wrong usage for anything else", async () => {
  for (const words of [["claude"], [], ["pi", "omp"]]) expect((await galley("import", ...words)).code).toBe(2);
  expect((await galley("import", "xcsh")).stdout).toContain("There is nothing to copy.");
});

const unused = "extensions, skills, prompts and sessions are used; settings, models and themes are not";

it("doctor tells of it as long as galley has nothing of its own; a one-shot run does not", async () => {
  putPi();
  const doctor = async () => (await galley("doctor")).stdout;
  expect(await doctor()).toMatch(
    /^ok {7}pi {8}of ~\/\.pi\/agent the extensions, .*are not\n +galley import pi {2}shows what it would copy\.$/m,
  );
  expect((await galley("-p", "help")).stderr).not.toContain("import");
  await galley("import", "pi", "--yes");
  expect(await doctor()).not.toContain(unused);
});

it.skipIf(!tmuxVersion).each([[[]], [["--plain"]]])(
  `and so does the start of the terminal (%j)${tmuxVersion ? "" : ` (${withoutTmux})`}`,
  async (args) => {
    const { terminal, home } = await openTerminal();
    putPi(home);
    terminal.galley(...args);
    await terminal.shows(/of ~\/\.pi\/agent the extensions[\s\S]*galley import pi/);
  },
);
