import { describe, expect, it } from "vitest";
import {
  type CredentialSources,
  findKey,
  findKeys,
  findValue,
  looksLikeUnsetName,
  noKeyText,
  readAuthFile,
  rememberCommands,
  resolveValue,
} from "./credentials.js";
import { usualKeyName } from "./provider-list.js";

const neverRun = () => Promise.reject(new Error("no command may run here"));

function sources(parts: Partial<CredentialSources> = {}): CredentialSources {
  return { env: {}, authFile: new Map(), runtimeKeys: new Map(), runCommand: neverRun, ...parts };
}

const value = (text: string, source?: string) => ({ kind: "value", value: text, ...(source ? { source } : {}) });
const missing = { kind: "missing" };

describe("findKey", () => {
  const everything = sources({
    runtimeKeys: new Map([["openai", "from-run"]]),
    authFile: new Map([["openai", "from-file"]]),
    env: { OPENAI_API_KEY: "from-env" },
  });

  it("takes the run, then the credential file, then the environment, then the models file", () => {
    expect(findKey(everything, "openai", "configured")).toEqual(value("from-run", "--api-key"));
    const noRun = { ...everything, runtimeKeys: new Map<string, string>() };
    expect(findKey(noRun, "openai", "configured")).toEqual(value("from-file", "auth.json"));
    const noFile = { ...noRun, authFile: new Map<string, string>() };
    expect(findKey(noFile, "openai", "configured")).toEqual(value("from-env", "OPENAI_API_KEY"));
    expect(findKey({ ...noFile, env: {} }, "openai", "configured")).toEqual(value("configured", "models.yml"));
    expect(findKey({ ...noFile, env: {} }, "openai", undefined)).toEqual(missing);
  });

  it("can tell every key that was found, in this order", () => {
    const named = { ...everything, names: { auth: "authStorage", models: "models.json" } };
    const told = (configured: string) => [...findKeys(named, "openai", configured)].map(({ source }) => source);
    expect(told("!pass show key")).toEqual(["--api-key", "authStorage", "OPENAI_API_KEY", "models.json"]);
    expect(told("$MY_KEY")).toEqual(["--api-key", "authStorage", "OPENAI_API_KEY"]);
  });

  it("passes over blank values and gives no provider the key of another", () => {
    const blank = sources({ runtimeKeys: new Map([["openai", "  "]]), env: { OPENAI_API_KEY: "" } });
    expect(findKey(blank, "openai", undefined)).toEqual(missing);
    expect(findKey(everything, "acme", undefined)).toEqual(missing);
    expect(findKey(everything, "constructor", undefined)).toEqual(missing);
  });

  it.each([
    ["anthropic", ["ANTHROPIC_OAUTH_TOKEN", "ANTHROPIC_API_KEY"]],
    ["openai", ["OPENAI_API_KEY"]],
    ["google", ["GEMINI_API_KEY", "GOOGLE_API_KEY"]],
    ["openrouter", ["OPENROUTER_API_KEY"]],
    ["groq", ["GROQ_API_KEY"]],
    ["xai", ["XAI_API_KEY"]],
    ["mistral", ["MISTRAL_API_KEY"]],
    ["cerebras", ["CEREBRAS_API_KEY"]],
    ["zai", ["ZAI_API_KEY"]],
    ["deepseek", ["DEEPSEEK_API_KEY"]],
    ["github-copilot", ["COPILOT_GITHUB_TOKEN"]],
    ["vercel-ai-gateway", ["AI_GATEWAY_API_KEY"]],
    ["together", ["TOGETHER_API_KEY"]],
    ["huggingface", ["HUGGINGFACE_HUB_TOKEN", "HF_TOKEN"]],
    ["fireworks", ["FIREWORKS_API_KEY"]],
    ["litellm", ["LITELLM_API_KEY"]],
    ["ollama", ["OLLAMA_API_KEY"]],
    ["lm-studio", ["LM_STUDIO_API_KEY"]],
    ["vllm", ["VLLM_API_KEY"]],
    ["llama.cpp", ["LLAMA_CPP_API_KEY"]],
  ])("reads %s from %j, first one first", (provider, names) => {
    let env: Record<string, string> = {};
    for (const name of names.toReversed()) {
      env = { ...env, [name]: `key of ${name}` };
      expect(findKey(sources({ env }), provider, undefined)).toEqual(value(`key of ${name}`, name));
    }
  });
});

describe("findValue", () => {
  it("requires the variable of $NAME and ${NAME}", () => {
    expect(findValue("$ACME_KEY", { ACME_KEY: "k" })).toEqual(value("k", "ACME_KEY"));
    expect(findValue("${ACME_KEY}", { ACME_KEY: " k\n" })).toEqual(value("k", "ACME_KEY"));
    for (const text of ["$MISSING", "${MISSING}"]) {
      expect(findValue(text, {})).toEqual(missing);
      expect(findValue(text, { MISSING: "" })).toEqual(missing);
    }
  });

  it("takes a bare name that is set as a variable, else the text itself, also when it was a misspelt name", () => {
    expect(findValue("ACME_KEY", { ACME_KEY: "k" })).toEqual(value("k", "ACME_KEY"));
    expect(findValue("ACME_KYE", { ACME_KEY: "k" })).toEqual(value("ACME_KYE"));
    expect(findValue("sk-123", {})).toEqual(value("sk-123"));
    expect(findValue("ACME_KEY", { ACME_KEY: "" })).toEqual(missing);
  });

  it("does not take what every object has for a variable", () => {
    expect(findValue("$constructor", {})).toEqual(missing);
    expect(findValue("toString", {})).toMatchObject(value("toString"));
    expect(findValue("$__proto__", {})).toEqual(missing);
  });

  it("names a command without running it", () => {
    expect(findValue("!pass show acme", {})).toEqual({ kind: "command", command: "pass show acme" });
    expect(findValue("! ", {})).toEqual(missing);
  });
});

it("suspects only unset values that are spelt as names of secrets", () => {
  expect(looksLikeUnsetName("ACME_API_KEY", {})).toBe(true);
  expect(looksLikeUnsetName("ACME_API_KEY", { ACME_API_KEY: "k" })).toBe(false);
  for (const text of ["$ACME_API_KEY", "!ACME_API_KEY", "sk-123", "AKIA123", "local"])
    expect(looksLikeUnsetName(text, {})).toBe(false);
});

describe("resolveValue", () => {
  it("gives the value, trims what a command prints, and gives nothing for nothing", async () => {
    expect(await resolveValue({ kind: "value", value: "k" }, neverRun)).toBe("k");
    expect(await resolveValue({ kind: "missing" }, neverRun)).toBeUndefined();
    expect(await resolveValue({ kind: "command", command: "c" }, async (command) => ` key of ${command}\n`)).toBe(
      "key of c",
    );
  });

  it.each(["", "two\nlines", "nul\0", "schl\u00fcssel", "zero\u200bwidth"])(
    "refuses %j without repeating it",
    async (bad) => {
      const resolved = resolveValue({ kind: "command", command: "c" }, async () => bad);
      await expect(resolved).rejects.toMatchObject({
        code: "no_credential",
        message: "The value is empty, of several lines, or not plain ASCII.",
      });
    },
  );
});

describe("rememberCommands", () => {
  const counting = () => {
    const runs: string[] = [];
    const answers = rememberCommands(async (command) => {
      runs.push(command);
      return `${command} ${runs.length}\n`;
    });
    return { runs, ...answers };
  };

  it("runs a command once for callers at the same time and later", async () => {
    const { run, runs } = counting();
    expect(await Promise.all([run("a"), run("a"), run("b")])).toEqual(["a 1\n", "a 1\n", "b 2\n"]);
    expect(await run("a")).toBe("a 1\n");
    expect(runs).toEqual(["a", "b"]);
  });

  it("tries again after a failure", async () => {
    let isLocked = true;
    const { run } = rememberCommands(async () => {
      if (isLocked) throw new Error("locked");
      return "key";
    });
    await expect(run("a")).rejects.toThrow("locked");
    isLocked = false;
    expect(await run("a")).toBe("key");
  });

  it("runs a command again whose answer was refused, once for all who were refused with it", async () => {
    const { run, gave, forget, runs } = counting();
    await run("a");
    forget("a", "a 1");
    const renewed = run("a");
    forget("a", "a 1"); // a second request that was sent with the old answer
    expect(await Promise.all([renewed, run("a")])).toEqual(["a 2\n", "a 2\n"]);
    forget("a", "a 1");
    expect(await run("a")).toBe("a 2\n");
    expect(runs).toEqual(["a", "a"]);
    expect([gave("a", "a 1"), gave("a", "a 2"), gave("a", "a 3"), gave("b", "a 1")]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});

describe("the texts about keys", () => {
  it.each([
    ["anthropic", "ANTHROPIC_API_KEY", "Set ANTHROPIC_API_KEY, or run: galley login anthropic"],
    ["google", usualKeyName("google"), "Set GEMINI_API_KEY, or run: galley login google"],
    ["huggingface", usualKeyName("huggingface"), "Set HF_TOKEN, or run: galley login huggingface"],
    ["acme", "ACME_KEY", "Set ACME_KEY, or pass --api-key."],
    ["acme", usualKeyName("acme"), "Pass --api-key, or add apiKey to models.yml."],
  ])("a missing key of %s: %s", (provider, name, rest) => {
    expect(noKeyText(provider, name)).toBe(`No API key found for ${provider}. ${rest}`);
  });
});

describe("readAuthFile", () => {
  it("takes API keys and says what it does not take", () => {
    const value = JSON.parse(
      '{"acme":{"type":"api_key","key":"k"},"b":{"type":"oauth","access":"x"},"c":"sk-1","__proto__":{"type":"api_key","key":7}}',
    );
    const { keys, warnings } = readAuthFile(value, "/a/auth.json");
    expect([...keys]).toEqual([["acme", "k"]]);
    expect(warnings).toEqual([
      '/a/auth.json: "b": OAuth logins are not used yet',
      '/a/auth.json: "c": expected {"type":"api_key","key":"..."}',
      '/a/auth.json: "__proto__": expected {"type":"api_key","key":"..."}',
    ]);
  });

  it.each([null, [], "x", 7])("refuses %j as a whole", (value) => {
    expect(readAuthFile(value, "/a/auth.json")).toEqual({
      keys: new Map(),
      warnings: ["/a/auth.json: expected an object"],
    });
  });
});
