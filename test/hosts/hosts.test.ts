// Published programs that start pi, or read what it keeps, run as they are: with galley where they look for pi, in a box
// without network and with a home of their own. They are installed by `npm ci --prefix test/hosts --ignore-scripts`.

import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureBuilt } from "../kit/rpc-host.js";
import { emptyHome, galleyBin, projectRoot, run } from "../kit/run-galley.js";

const packages = join(import.meta.dirname, "node_modules");
const isInstalled = existsSync(packages);
/** pi itself, and a Node that it runs on. */
const oracles = join(import.meta.dirname, "../oracles/node_modules");
const pi = join(oracles, "@earendil-works/pi-coding-agent/dist");
const newerNode = join(oracles, "node22/bin");
const hapi = join(packages, "@twsxtd/hapi-linux-x64/bin/hapi");
const box = ["/usr/bin/bwrap", "/bin/bwrap"].find((path) => existsSync(path));

if (!isInstalled) it.skip("The hosts are not installed: run npm ci --prefix test/hosts --ignore-scripts.");
if (!existsSync(pi)) it.skip("pi and its client are not installed: run npm ci --prefix test/oracles --ignore-scripts.");
if (!box) it.skip("The hosts are not run: there is no bwrap to confine them.");

const { home, env, remove } = emptyHome();
const bin = join(home, "bin");
const agentDir = join(home, ".pi/agent");
const cwd = join(home, "project");

beforeAll(async () => {
  await ensureBuilt();
  for (const folder of [bin, agentDir, cwd]) mkdirSync(folder, { recursive: true });
  for (const name of ["pi", "galley-pi", "galley"]) symlinkSync(galleyBin, join(bin, name));
});
afterAll(remove);

/** Only `home` can be written, and nothing of the user's is there. */
function boxed(args: readonly string[], given: Record<string, string> = {}) {
  const variables = { HOME: home, PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`, ...given };
  const places = [projectRoot, dirname(dirname(process.execPath))].filter((path) => path !== "/usr");
  const confined = [
    ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/root"],
    ...["--tmpfs", "/home", ...places.flatMap((path) => ["--ro-bind", path, path]), "--bind", home, home],
    ...["--unshare-net", "--unshare-pid", "--die-with-parent", "--clearenv", "--chdir", cwd],
    ...Object.entries(variables).flatMap(([name, value]) => ["--setenv", name, value]),
  ];
  return run(box as string, [...confined, process.execPath, ...args], { env, cwd });
}

interface Seen {
  answers: [object, { configOptions: Option[] }, { stopReason: string }];
  updates: { sessionUpdate: string; content?: { text?: string } }[];
}
interface Option {
  id: string;
  currentValue: string;
  options: { value: string }[];
}

/** What the hub's page shows of a conversation. */
interface Page {
  messages: { text?: string; data?: { type: string; message?: string } }[];
  session: { effort: string; metadata: { piSessionId: string; capabilities: { conversationHistory?: object } } };
  models: { currentModelId: string };
}

const said = ({ updates }: Seen, kind: string) =>
  updates.flatMap(({ sessionUpdate, content }) => (sessionUpdate === kind ? (content?.text ?? []) : [])).join("");

type Shape = string | readonly Shape[] | { readonly [member: string]: Shape };
interface Driven {
  answers: Record<string, { answer?: Shape; error?: string }>;
  events: Record<string, Shape>;
  levels: string[];
  thinkingLevel: string;
}

/** What the second lacks of the first; another type of a member counts as well. */
function lacking(wanted: Shape | undefined, found: Shape | undefined, path: string): string[] {
  if (typeof wanted !== "object" || typeof found !== "object") return wanted === found ? [] : [path];
  return Object.entries(wanted).flatMap(([name, shape]) =>
    name in found ? lacking(shape, (found as Record<string, Shape>)[name], `${path}.${name}`) : [`${path}.${name}`],
  );
}

describe.runIf(existsSync(pi) && existsSync(newerNode) && box)("pi's own client", () => {
  const drive = async (program: string, model: string, given: Record<string, string> = {}) => {
    const driver = join(import.meta.dirname, "drive-pi-client.mjs");
    const { code, stdout, stderr } = await boxed(
      [driver, join(pi, "modes/rpc/rpc-client.js"), program, agentDir, cwd, model],
      given,
    );
    expect([code, stderr]).toEqual([0, ""]);
    return JSON.parse(stdout) as Driven;
  };
  /** Not told: a command of a built-in extension of pi, and details that no host that was looked at reads. */
  const left = [
    ".getCommands.answer",
    ".getMessages.answer.0.rawStopReason",
    "event.bash_execution_update",
    "event.message_update.usage",
  ];

  it.each(["plain", "thinks"])("finds with galley what it finds with pi, with a model that is %s", async (model) => {
    const beside = await drive(join(pi, "cli.js"), model, { PATH: `${newerNode}:/usr/bin:/bin`, PI_OFFLINE: "1" });
    const ways: [string, Record<string, string>][] = [
      ["pi", {}],
      ["galley-pi", {}],
      ["galley", { GALLEY_AS: "pi" }],
    ];
    for (const [name, given] of ways) {
      const found = await drive(join(bin, name), model, given);
      const missing = Object.entries(beside.answers).flatMap(([call, { answer, error }]) =>
        error === undefined
          ? lacking(answer ?? "undefined", found.answers[call]?.answer ?? "undefined", `.${call}.answer`)
          : found.answers[call]?.error === undefined
            ? [`.${call}.error`]
            : [],
      );
      const told = Object.entries(beside.events).flatMap(([type, shape]) =>
        lacking(shape, found.events[type], `event.${type}`),
      );
      expect([...missing, ...told].filter((path) => !left.includes(path))).toEqual([]);
      expect(Object.values(found.answers).filter(({ error }) => error?.startsWith("Unknown command"))).toEqual([]);
      expect([found.levels, found.thinkingLevel]).toEqual([beside.levels, beside.thinkingLevel]);
    }
  });
});

describe.runIf(isInstalled && box)("published hosts", () => {
  const starts: [string, Record<string, string>][] = [
    ["a link named pi", {}],
    ["galley-pi", { PI_ACP_PI_COMMAND: "galley-pi" }],
    ["GALLEY_AS=pi", { PI_ACP_PI_COMMAND: "galley", GALLEY_AS: "pi" }],
  ];

  it.each(starts.flatMap(([name, given]) => ["plain", "thinks"].map((model) => [name, model, given] as const)))(
    "pi-acp opens, uses and loads a session: %s, a model that is %s",
    async (_name, model, given) => {
      const adapter = join(packages, "pi-acp/dist/index.js");
      const { code, stdout, stderr } = await boxed(
        [join(import.meta.dirname, "drive-acp.mjs"), adapter, agentDir, cwd, model],
        given,
      );
      expect([code, stderr]).toEqual([0, ""]);
      const { first, second, requests } = JSON.parse(stdout) as { first: Seen; second: Seen; requests: number };
      const level = first.answers[1].configOptions.find(({ id }) => id === "thought_level");
      const levels = level?.options.map(({ value }) => value) ?? [];
      expect(levels).toEqual(model === "plain" ? ["off"] : ["off", "minimal", "low", "medium", "high"]);
      expect(levels).toContain(level?.currentValue);
      expect(first.answers[2]).toMatchObject({ stopReason: "end_turn" });
      expect(said(first, "agent_message_chunk")).toContain("It says hello.");
      expect(first.updates.filter(({ sessionUpdate }) => sessionUpdate === "tool_call")).toHaveLength(1);
      expect(said(second, "user_message_chunk")).toContain("What is in a.txt?");
      expect(said(second, "agent_message_chunk")).toMatch(/It says hello\.[\s\S]*Again\./);
      expect(second.answers[2]).toMatchObject({ stopReason: "end_turn" });
      expect(requests).toBe(3);
    },
  );

  it("@ccusage/pi finds the sessions, their models and what they used", async () => {
    const reader = join(packages, "@ccusage/pi/dist/index.js");
    const { code, stdout } = await boxed([reader, "session", "--json"]);
    expect(code).toBe(0);
    const { sessions } = JSON.parse(stdout) as { sessions: { modelsUsed: string[]; totalTokens: number }[] };
    const [folder = ""] = readdirSync(join(agentDir, "sessions"));
    expect(folder).toBe(`--${cwd.slice(1).replaceAll("/", "-")}--`);
    const [file = ""] = readdirSync(join(agentDir, "sessions", folder)).filter((name) => name.endsWith(".jsonl"));
    expect(readFileSync(join(agentDir, "sessions", folder, file), "utf8")).toContain('"totalTokens"');
    expect(sessions.length).toBeGreaterThan(0);
    for (const session of sessions) expect(session.modelsUsed.join()).toContain("scripted");
  });

  it.runIf(existsSync(hapi)).each(["plain", "thinks"])(
    "hapi shows a conversation in its page and resumes it by its id, with a model that is %s",
    async (model) => {
      const { code, stdout, stderr } = await boxed([
        join(import.meta.dirname, "drive-hapi.mjs"),
        ...[hapi, agentDir, cwd, model],
      ]);
      expect([code, stderr]).toEqual([0, ""]);
      const { first, second, requests } = JSON.parse(stdout) as { first: Page; second: Page; requests: number[] };
      expect(first.messages.slice(0, 4).map(({ data }) => data?.type)).toEqual([
        undefined,
        "tool-call",
        "tool-call-result",
        "message",
      ]);
      expect(second.messages.flatMap(({ text, data }) => text ?? data?.message ?? [])).toEqual([
        "What is in a.txt?",
        "It says hello.",
        "And again?",
        "Again.",
      ]);
      expect(second.session.metadata.piSessionId).toBe(first.session.metadata.piSessionId);
      expect(second.session.effort).toBe(model === "plain" ? "off" : "medium");
      expect(second.session.metadata.capabilities.conversationHistory).toMatchObject({ forkAtMessage: true });
      expect(second.models.currentModelId).toBe("scripted");
      // The system's message, then the conversation so far.
      expect(requests).toEqual([2, 4, 6]);
    },
  );
});
