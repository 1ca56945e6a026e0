// Keys of the user in the built program: asked for in a real terminal, taken from a pipe, checked by one request, stored
// for this user only, found in the right order and removed.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { Gate, openAi, type Reply, type ScriptedServer, startScriptedServer } from "../../src/testing/index.js";
import { hasTerminal } from "../kit/print-rig.js";
import { ensureBuilt } from "../kit/rpc-host.js";
import { emptyHome, galleyBin, type Outcome, run } from "../kit/run-galley.js";
import { openTerminal, type Terminal } from "../kit/terminal.js";

beforeAll(ensureBuilt, 150_000);

const key = "sk-canary-0123456789abcdef";
const models: Reply = { status: 200, body: '{"data":[]}' };
const stored = "~/.galley/agent/auth.json";

let place: ReturnType<typeof emptyHome>;
beforeEach(() => {
  place = emptyHome();
});
afterEach(() => place.remove());

const authFile = () => join(place.home, ".galley/agent/auth.json");
const content = () => JSON.parse(readFileSync(authFile(), "utf8")) as Record<string, unknown>;
const put = (entries: object, mode = 0o600) => {
  mkdirSync(join(place.home, ".galley/agent"), { recursive: true, mode: 0o700 });
  writeFileSync(authFile(), JSON.stringify(entries));
  chmodSync(authFile(), mode);
};
const entry = (text: string) => ({ type: "api_key", key: text });

function galley(args: readonly string[], more: { env?: NodeJS.ProcessEnv; input?: string } = {}): Promise<Outcome> {
  const env = { ...place.env, ...more.env };
  return run(process.execPath, [galleyBin, ...args], { env, cwd: place.home, input: more.input ?? "" });
}

async function serve(replies: readonly Reply[]): Promise<ScriptedServer> {
  const server = await startScriptedServer(replies);
  onTestFinished(() => server.close());
  return server;
}

describe.skipIf(!hasTerminal)("in a terminal (needs the program script of util-linux)", () => {
  /** Also says how it ended and whether the terminal is as it was. */
  function login(words: string, env: NodeJS.ProcessEnv = {}): Terminal {
    const command = `a=$(stty -g); '${process.execPath}' '${galleyBin}' login ${words}; echo "exit $?"; test "$a" = "$(stty -g)" && echo restored`;
    return openTerminal(command, { env: { ...place.env, ...env }, cwd: place.home });
  }
  const asks = (provider: string) => `API key for ${provider} (not shown):`;

  it("asks, shows nothing of the key, checks it and stores it", async () => {
    const server = await serve([models]);
    const terminal = login("anthropic", { ANTHROPIC_BASE_URL: server.url });
    await terminal.until(asks("anthropic"));
    terminal.type(`${key}\r`);
    await terminal.ended;
    expect(terminal.screen()).toBe(`Create a key at https://platform.claude.com/settings/keys
API key for anthropic (not shown):
anthropic: key works. Stored in ${stored}
exit 0
restored
`);
    expect(content()).toEqual({ anthropic: entry(key) });
    expect(statSync(authFile()).mode & 0o777).toBe(0o600);
    expect(statSync(join(place.home, ".galley/agent")).mode & 0o777).toBe(0o700);
    expect(server.requests).toMatchObject([{ method: "GET", path: "/v1/models", headers: { "x-api-key": key } }]);
  });

  it.each([
    ["Ctrl-C", "\x03"],
    ["Ctrl-D", "\x04"],
  ])("%s: 130, nothing is written, the terminal is as before", async (_name, typed) => {
    const terminal = login("anthropic");
    await terminal.until(asks("anthropic"));
    terminal.type(`${key}${typed}`);
    await terminal.ended;
    expect(terminal.screen()).toMatch(/\(not shown\):\nexit 130\nrestored\n$/);
    expect(terminal.screen()).not.toContain("canary");
    expect(existsSync(join(place.home, ".galley"))).toBe(false);
  });

  it("edits with Backspace and Ctrl-U, and takes a paste with its marks", async () => {
    const terminal = login("openai --no-check");
    await terminal.until(asks("openai"));
    terminal.type(`wrong\x15\x1b[200~${key}\x1b[201~xy\x7f\x7f\x1b[D\r`);
    await terminal.ended;
    expect(terminal.screen()).toContain(`openai: key not checked. Stored in ${stored}\nexit 0\nrestored\n`);
    expect(content()).toEqual({ openai: entry(key) });
  });

  it("asks three times for an empty key or one that is not plain ASCII", async () => {
    const terminal = login("openai --no-check");
    for (const typed of ["\r", "schlüssel\r", "   \r"]) {
      await terminal.until(asks("openai"));
      terminal.type(typed);
    }
    await terminal.ended;
    expect(terminal.screen()).toBe(`Create a key at https://platform.openai.com/api-keys
API key for openai (not shown):
No key was entered.
API key for openai (not shown):
A key has only plain ASCII characters, on one line.
API key for openai (not shown):
No key was entered.
Nothing was stored.
exit 2
restored
`);
    expect(existsSync(join(place.home, ".galley"))).toBe(false);
  });

  it("asks for the provider by number", async () => {
    const terminal = login("--no-check");
    await terminal.until("Provider (number or name): ");
    terminal.type("99\r");
    await terminal.until("Enter a number from 1 to ");
    await terminal.until("Provider (number or name): ");
    terminal.type("23\x7f\r");
    await terminal.until(asks("openai"));
    terminal.type(`${key}\r`);
    await terminal.ended;
    expect(terminal.screen()).toContain(" 1  anthropic          Anthropic\n 2  openai             OpenAI\n");
    expect(terminal.screen()).not.toContain("canary");
    expect(content()).toEqual({ openai: entry(key) });
  });

  it("does not ask for a key that it could not store", async () => {
    put({ mine: 1 }, 0o644);
    const terminal = login("anthropic");
    await terminal.ended;
    expect(terminal.screen()).toBe(
      `${authFile()}: not used, because its mode is 0644 and not 0600; run chmod 600 on it\nexit 3\nrestored\n`,
    );
  });
});

describe("from a pipe", () => {
  it("stores a key that works; entries that it does not know stay", async () => {
    put({ mine: { type: "other", n: 1 }, openai: entry("old") });
    const server = await serve([models]);
    const outcome = await galley(["login", "openai", "--stdin"], {
      input: `  ${key}\n`,
      env: { OPENAI_BASE_URL: `${server.url}/v1` },
    });
    expect(outcome).toEqual({ code: 0, stdout: `openai: key works. Stored in ${stored}\n`, stderr: "" });
    expect(content()).toEqual({ mine: { type: "other", n: 1 }, openai: entry(key) });
    expect(server.requests).toMatchObject([
      { method: "GET", path: "/v1/models", headers: { authorization: `Bearer ${key}` } },
    ]);
  });

  it.each([
    ["google", "GEMINI_BASE_URL", "/v1beta/models", "x-goog-api-key", key],
    ["openrouter", "OPENROUTER_BASE_URL", "/key", "authorization", `Bearer ${key}`],
    ["vercel-ai-gateway", "AI_GATEWAY_BASE_URL", "/v1/credits", "authorization", `Bearer ${key}`],
    ["minimax", "MINIMAX_BASE_URL", "/v1/models", "x-api-key", key],
  ])("%s is asked for what only a key opens", async (provider, name, path, header, value) => {
    const server = await serve([models]);
    const { code } = await galley(["login", provider, "--stdin"], { input: key, env: { [name]: server.url } });
    expect(code).toBe(0);
    expect(server.requests).toMatchObject([{ method: "GET", path, headers: { [header]: value } }]);
  });

  it.each([
    [401, '{"error":{"message":"bad key KEY"}}'],
    [403, "KEY"],
    [400, '{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"KEY"}}'],
  ])("a key that is refused with %i is not stored: 7, and it is not repeated", async (status, body) => {
    const server = await serve([{ status, body: body.replace("KEY", key) }]);
    const env = { OPENAI_BASE_URL: server.url };
    expect(await galley(["login", "openai", "--stdin"], { input: key, env })).toEqual({
      code: 7,
      stdout: "",
      stderr: `openai: the key was refused by ${server.url} (HTTP ${status}). Nothing was stored.\n`,
    });
    expect(existsSync(authFile())).toBe(false);
  });

  it.each([
    ["an unclear answer", { status: 500, body: key }, /unclear answer from http:\S+ \(HTTP 500\)\n$/],
    ["a page", { status: 200, body: `<h1>${key}</h1>` }, /unclear answer from http:\S+\n$/],
  ])("%s: stored with a warning", async (_name, reply, warning) => {
    const server = await serve([reply]);
    const outcome = await galley(["login", "openai", "--stdin"], { input: key, env: { OPENAI_BASE_URL: server.url } });
    expect(outcome).toMatchObject({ code: 0, stdout: `openai: key not checked. Stored in ${stored}\n` });
    expect(outcome.stderr).toMatch(/^The key could not be checked: /);
    expect(outcome.stderr).toMatch(warning);
    expect(outcome.stderr).not.toContain("canary");
    expect(content()).toEqual({ openai: entry(key) });
  });

  it("a server that is not there: stored with a warning", async () => {
    const outcome = await galley(["login", "openai", "--stdin"], {
      input: key,
      env: { OPENAI_BASE_URL: "http://127.0.0.1:9/v1" },
    });
    expect(outcome).toMatchObject({ code: 0, stdout: `openai: key not checked. Stored in ${stored}\n` });
    expect(outcome.stderr).toContain("http://127.0.0.1:9: Connection failed");
  });

  it("Ctrl-C while the service is asked: 130, and nothing is stored", async () => {
    const gate = new Gate();
    const server = await serve([{ steps: [gate.step], mayBeLeft: true }]);
    const env = { ...place.env, OPENAI_BASE_URL: server.url };
    const child = spawn(process.execPath, [galleyBin, "login", "openai", "--stdin"], { env, cwd: place.home });
    child.stdin.end(key);
    await gate.reached;
    child.kill("SIGINT");
    expect(await once(child, "close")).toEqual([130, null]);
    expect(existsSync(join(place.home, ".galley"))).toBe(false);
  });

  it("the models file says where the key may go", async () => {
    const [ours, other] = [await serve([models]), await serve([])];
    mkdirSync(join(place.home, ".galley/agent"), { recursive: true });
    writeFileSync(
      join(place.home, ".galley/agent/models.yml"),
      `providers:\n  openai:\n    baseUrl: ${ours.url}/proxy\n`,
    );
    const { code } = await galley(["login", "openai", "--stdin"], { input: key, env: { OPENAI_BASE_URL: other.url } });
    expect([code, ours.requests.map(({ path }) => path)]).toEqual([0, ["/proxy/models"]]);
  });

  it("six at the same time lose nothing", async () => {
    const providers = ["anthropic", "openai", "google", "groq", "xai", "mistral"];
    const outcomes = await Promise.all(
      providers.map((name) => galley(["login", name, "--stdin", "--no-check"], { input: `key of ${name}` })),
    );
    expect(outcomes.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 0]);
    expect(content()).toEqual(Object.fromEntries(providers.map((name) => [name, entry(`key of ${name}`)])));
    expect(statSync(authFile()).mode & 0o777).toBe(0o600);
  }, 60_000);

  it.each([
    [["login", "anthropic"], "galley login PROVIDER --stdin"],
    [["login"], "galley login PROVIDER --stdin"],
    [["login", "--stdin"], "needs the provider"],
    [["login", "antropic", "--stdin"], "Unknown provider antropic. Did you mean anthropic?"],
    [["login", "acme", "--stdin"], "Unknown provider acme. Known: anthropic, openai, google,"],
    [["login", "openai", "--stdi"], "Unknown option --stdi. Did you mean --stdin?"],
    [["login", "openai", "--browser"], "Only openrouter offers a login in the browser"],
    [["login", "--list", "openai"], "--list takes nothing else."],
    [["logout"], "galley logout takes one provider, or --all."],
    [["logout", "opnai"], "Unknown provider opnai. Did you mean openai?"],
  ])("wrong use: 2 (%j)", async (args, text) => {
    const outcome = await galley(args, { input: key });
    expect([outcome.code, outcome.stdout]).toEqual([2, ""]);
    expect(outcome.stderr).toContain(text);
    expect(existsSync(join(place.home, ".galley"))).toBe(false);
  });

  it.each([
    [["login", "openai", key], key],
    [["login", key], key],
    [["login", `--key=${key}`], key],
    [["login", "openai", "--stdin", "--no-check"], `two\nlines ${key}`],
    [["login", "openai", "--stdin", "--no-check"], `ü${key}`],
    [["login", "openai", "--stdin", "--no-check"], " \n"],
  ])("a key in the wrong form or place: 2, and it is not repeated (%#)", async (args, input) => {
    const outcome = await galley(args, { input });
    expect([outcome.code, outcome.stdout]).toEqual([2, ""]);
    expect(outcome.stderr).not.toContain("canary");
    expect(existsSync(authFile())).toBe(false);
  });

  it.each([0o644, 0o400])("a file with mode %o is neither used nor changed: 3", async (mode) => {
    put({ openai: entry("old") }, mode);
    for (const args of [
      ["login", "openai", "--stdin", "--no-check"],
      ["logout", "openai"],
      ["logout", "--all"],
    ]) {
      const outcome = await galley(args, { input: key });
      expect([outcome.code, outcome.stdout]).toEqual([3, ""]);
      expect(outcome.stderr).toContain("and not 0600; run chmod 600 on it");
    }
    expect(content()).toEqual({ openai: entry("old") });
  });
});

describe("login --list and logout", () => {
  const env = { OPENAI_API_KEY: `${key}-env`, GOOGLE_API_KEY: `${key}-google` };

  it("tell where keys are found, in the order of use, and no part of one", async () => {
    put({ openai: entry(`${key}-file`), acme: entry(`${key}-acme`), b: { type: "oauth", access: key } });
    const yaml = `providers:
  acme:
    baseUrl: https://acme.example/v1
    api: openai-completions
    apiKey: "!touch ran; echo ${key}"
    models:
      - id: m
`;
    writeFileSync(join(place.home, ".galley/agent/models.yml"), yaml);
    const outcome = await galley(["login", "--list"], { env });
    expect(outcome.stdout).toBe(`openai  auth.json
openai  OPENAI_API_KEY
google  GOOGLE_API_KEY
acme    auth.json
acme    models.yml
`);
    expect(outcome.code).toBe(0);
    expect(outcome.stderr).not.toContain("canary");
    expect(existsSync(join(place.home, ".galley/agent/ran"))).toBe(false);
  });

  it("nothing is found: said so", async () => {
    const text = "No key found. Set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, … or run: galley login\n";
    expect(await galley(["login", "--list"])).toEqual({ code: 0, stdout: "", stderr: text });
  });

  it("remove a key, and name one that is left", async () => {
    put({ openai: entry(key), mine: 1 });
    expect(await galley(["logout", "openai"], { env })).toEqual({
      code: 0,
      stdout: `openai: removed from ${stored}\nopenai: a key is still found in OPENAI_API_KEY\n`,
      stderr: "",
    });
    expect(content()).toEqual({ mine: 1 });
    expect(await galley(["logout", "openai"])).toEqual({
      code: 0,
      stdout: `openai: no key in ${stored}\n`,
      stderr: "",
    });
  });

  it("remove all keys, and nothing else", async () => {
    put({ openai: entry(key), acme: entry(key), mine: { type: "oauth" } });
    expect(await galley(["logout", "--all"])).toEqual({
      code: 0,
      stdout: `openai: removed from ${stored}
acme: removed from ${stored}
mine: left in ${stored}, because it is no API key
`,
      stderr: "",
    });
    expect(content()).toEqual({ mine: { type: "oauth" } });
  });

  it("without a file: 0, and none is made", async () => {
    expect(await galley(["logout", "--all"])).toEqual({ code: 0, stdout: `No key in ${stored}\n`, stderr: "" });
    expect((await galley(["logout", "openai"])).code).toBe(0);
    expect(existsSync(join(place.home, ".galley"))).toBe(false);
  });
});

describe("the browser login of OpenRouter", () => {
  it("prints an address, takes the browser's answer once and stores the key that it buys", async () => {
    const server = await serve([
      { status: 200, body: JSON.stringify({ key, user_id: "u" }) },
      { status: 200, body: '{"data":{}}' },
    ]);
    const env = { ...place.env, OPENROUTER_BASE_URL: `${server.url}/api/v1` };
    const args = [galleyBin, "login", "openrouter", "--browser"];
    const child = spawn(process.execPath, args, { env, cwd: place.home, stdio: ["ignore", "pipe", "pipe"] });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk) => {
      stdout += String(chunk);
    });
    const address = await new Promise<URL>((resolve) => {
      child.stderr.on("data", (chunk) => {
        stderr += String(chunk);
        const found = /^Open this address in a browser:\n(\S+)\n/.exec(stderr)?.[1];
        if (found !== undefined) resolve(new URL(found));
      });
    });
    const ended = once(child, "close");
    expect(`${address.origin}${address.pathname}`).toBe(`${server.url}/auth`);
    const back = new URL(address.searchParams.get("callback_url") ?? "");
    expect(back.hostname).toBe("localhost");
    const visit = async (change: (url: URL) => void) => {
      const url = new URL(back);
      url.hostname = "127.0.0.1";
      change(url);
      return (await fetch(url)).status;
    };
    const code = "one-time-code";
    expect(await visit((url) => url.searchParams.set("state", "wrong"))).toBe(400);
    expect(await visit(() => {})).toBe(400); // no code
    expect(await visit((url) => url.searchParams.set("code", code))).toBe(200);
    expect(await ended).toEqual([0, null]);
    expect(stdout).toBe(`openrouter: key works. Stored in ${stored}\n`);
    expect(content()).toEqual({ openrouter: entry(key) });
    const [bought, checked] = server.requests;
    const { code_verifier: verifier, ...rest } = (bought?.body ?? {}) as Record<string, string>;
    expect(rest).toEqual({ code, code_challenge_method: "S256" });
    expect(
      createHash("sha256")
        .update(verifier ?? "")
        .digest("base64url"),
    ).toBe(address.searchParams.get("code_challenge"));
    expect([bought?.path, checked?.path]).toEqual(["/api/v1/auth/keys", "/api/v1/key"]);
    expect(stderr).not.toContain("canary");
  });

  it.skipIf(!hasTerminal)("takes a pasted code in a terminal, unseen; one that is refused stores nothing", async () => {
    const server = await serve([{ status: 403, body: '{"error":{"message":"Invalid code"}}' }]);
    const env = { ...place.env, OPENROUTER_BASE_URL: `${server.url}/api/v1` };
    const command = `'${process.execPath}' '${galleyBin}' login openrouter --browser; echo "exit $?"`;
    const terminal = openTerminal(command, { env, cwd: place.home });
    await terminal.until("paste its code or address here (not shown):");
    terminal.type("canary-code\r");
    await terminal.ended;
    expect(terminal.screen()).toContain(`\n${server.url} refused the code (HTTP 403). Nothing was stored.\nexit 3\n`);
    expect(terminal.screen()).not.toContain("canary");
    expect(server.requests[0]?.body).toMatchObject({ code: "canary-code" });
    expect(existsSync(authFile())).toBe(false);
  });
});

describe("a one-shot run", () => {
  const setUp = (url: string, apiKey: string) => {
    mkdirSync(join(place.home, ".galley/agent"), { recursive: true });
    writeFileSync(
      join(place.home, ".galley/agent/models.yml"),
      `providers:
  deepseek:
    baseUrl: ${url}/v1
    api: openai-completions
    apiKey: ${apiKey}
    models:
      - id: m
`,
    );
  };
  const hi = ["--model", "deepseek/m", "-p", "hi"];

  it("takes the key of the run, then the stored one, then the environment's, then the models file's", async () => {
    const server = await serve([1, 2, 3, 4].map(() => openAi.text("Hello.")));
    setUp(server.url, "of-the-file");
    const env = { DEEPSEEK_API_KEY: "of-the-environment" };
    expect((await galley(hi)).code).toBe(0);
    expect((await galley(hi, { env })).code).toBe(0);
    await galley(["login", "deepseek", "--stdin", "--no-check"], { input: "stored-one" });
    expect((await galley(hi, { env })).code).toBe(0);
    expect((await galley(["--api-key", "of-the-run", ...hi], { env })).code).toBe(0);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer of-the-file",
      "Bearer of-the-environment",
      "Bearer stored-one",
      "Bearer of-the-run",
    ]);
  });

  it("needs nothing but a stored key, and says so without one: 7", async () => {
    const server = await serve([openAi.text("Hello.")]);
    const env = { DEEPSEEK_BASE_URL: server.url };
    const deepseek = ["--provider", "deepseek", "-p", "hi"];
    const without = await galley(deepseek, { env });
    expect([without.code, without.stdout]).toEqual([7, ""]);
    expect(without.stderr).toContain(
      "No API key found for deepseek. Set DEEPSEEK_API_KEY, or run: galley login deepseek\n",
    );
    await galley(["login", "deepseek", "--stdin", "--no-check"], { input: key });
    expect(await galley(["-p", "hi"], { env })).toMatchObject({ code: 0, stdout: "Hello.\n" });
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${key}`]);
  });

  it("names the key that was refused: 7", async () => {
    const refusal: Reply = { status: 401, body: '{"error":{"message":"No such key"}}' };
    const server = await serve([refusal, refusal]);
    setUp(server.url, "$DEEPSEEK_API_KEY");
    put({ deepseek: entry(key) });
    const text = (source: string) =>
      `HTTP 401: No such key. The key from ${source} was refused by ${server.url}. Check it, or run: galley login deepseek`;
    const outcome = await galley(hi);
    expect(outcome.code).toBe(7);
    expect(outcome.stderr).toContain(text("auth.json"));
    const json = await galley(["--api-key", "of-the-run", ...hi, "--mode", "json"]);
    expect(json.stdout).toContain(text("--api-key"));
    expect(json.stdout).not.toContain("auto_retry");
  });

  it("runs a key command again that answered with an expired key: one 401, two runs, 0", async () => {
    const server = await serve([{ status: 401, body: "expired" }, openAi.text("Hello.")]);
    setUp(server.url, '"!echo run >> runs; echo key-$(wc -l < runs)"');
    const outcome = await galley([...hi, "--mode", "json"]);
    expect(outcome.code).toBe(0);
    expect(outcome.stdout).toContain("Hello.");
    expect(outcome.stdout).not.toMatch(/auto_retry|401/);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer key-1", "Bearer key-2"]);
    expect(readFileSync(join(place.home, ".galley/agent/runs"), "utf8")).toBe("run\nrun\n");
  });
});
