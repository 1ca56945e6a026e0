// Questions in a real terminal: whether a call may run, in every way to answer, and whether a project may run its code.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openAi, type Reply, type ScriptedServer, startScriptedServer } from "../../../src/testing/index.js";
import { call } from "../../kit/print-rig.js";
import { ensureBuilt, modelsAt } from "../../kit/rpc-host.js";
import { emptyHome } from "../../kit/run-galley.js";
import { sandboxAbility } from "../../kit/sandbox-rig.js";
import { TmuxTerminal, tmuxVersion, withoutTmux } from "../../kit/tmux.js";

beforeAll(ensureBuilt, 150_000);

interface Rig {
  readonly terminal: TmuxTerminal;
  readonly server: ScriptedServer;
  readonly cwd: string;
  readonly agentDir: string;
  /** Looks until the question has stood long enough to be answered. */
  answer(key: string): Promise<void>;
  toldModel(): string;
  /** Back to the shell: the program has written everything. */
  leave(): Promise<void>;
}

async function start(
  replies: readonly Reply[],
  { args = ["--access", "full", "go"], size = {}, before = (_cwd: string) => {} } = {},
) {
  const { home, env } = emptyHome();
  const cwd = join(home, "shop");
  const agentDir = join(home, ".galley/agent");
  mkdirSync(cwd, { recursive: true });
  mkdirSync(agentDir, { recursive: true });
  before(cwd);
  const server = await startScriptedServer(replies);
  onTestFinished(() => server.close());
  writeFileSync(join(agentDir, "models.yml"), modelsAt(server.url));
  const terminal = new TmuxTerminal({ cwd, env, ...size });
  terminal.galley(...args);
  const rig: Rig = {
    terminal,
    server,
    cwd,
    agentDir,
    async answer(key) {
      await terminal.shows(/Run \S+\?|Run outside the sandbox\?|Allow \S+\?|Trust /);
      await new Promise((resolve) => setTimeout(resolve, 400)); // keys in the first 300 ms are no answer
      terminal.keys(key);
    },
    async leave() {
      terminal.keys("C-u");
      terminal.write("/quit");
      terminal.keys("Enter");
      await terminal.shows(/galley --resume [\s\S]*\n\$$/);
    },
    toldModel: () => JSON.stringify(server.requests.at(-1)?.body),
  };
  return rig;
}

const bash = (command: string, id = "c1") => call("bash", { command }, id);
const done = openAi.text("All done.");

describe.skipIf(!tmuxVersion)(`a question about a call${tmuxVersion ? "" : ` (${withoutTmux})`}`, () => {
  it("shows the whole command; y runs it once, and the next call asks again", async () => {
    const rig = await start([bash("echo ran > out.txt"), bash("echo ran > out.txt", "c2"), done]);
    const { terminal, cwd } = rig;
    const screen = await terminal.shows("y once   s for this session   a always   n no, with a reason   v show all");
    expect(screen).toMatch(/Run bash\? +exec · not confined/);
    expect(screen).toMatch(/^ {3}echo ran > out\.txt\n {3}in ~\/shop$/m);
    expect(screen).toContain("· full");
    expect(existsSync(join(cwd, "out.txt"))).toBe(false);
    await rig.answer("y");
    await terminal.until(() => existsSync(join(cwd, "out.txt")), { what: "the command" });
    await rig.answer("Escape");
    await terminal.shows("All done.");
    expect(rig.toldModel()).toContain("Refused by the user: no reason given.");
    await rig.leave();
  });

  it("s remembers exactly these arguments, a keeps them for good, n tells the reason", async () => {
    const rig = await start([
      bash("echo one"),
      bash("echo one", "c2"),
      bash("echo two", "c3"),
      bash("echo two", "c4"),
      bash("echo three", "c5"),
      done,
    ]);
    const { terminal, agentDir } = rig;
    await terminal.shows("echo one");
    await rig.answer("s");
    await terminal.shows(/Run bash\?[\s\S]*echo two/);
    await rig.answer("a");
    await terminal.shows(/Run bash\?[\s\S]*echo three/);
    await rig.answer("n");
    await terminal.shows("What should it do instead?");
    terminal.write("use the tests");
    terminal.keys("Enter");
    await terminal.shows("All done.");
    expect(rig.toldModel()).toContain("Refused by the user: use the tests");
    const config = readFileSync(join(agentDir, "config.yml"), "utf8");
    expect(config).toContain("echo two");
    expect(config).not.toContain("echo one");
    await rig.leave();
  });

  it("takes no key that was typed before it appeared, and keeps what was typed in the editor", async () => {
    const rig = await start([bash("echo early"), done], { args: ["--access", "full"] });
    const { terminal } = rig;
    await terminal.shows("acme/scripted");
    terminal.write("go");
    terminal.keys("Enter");
    terminal.write("yyyy");
    await rig.answer("Escape");
    await terminal.shows("All done.");
    expect(rig.toldModel()).toContain("Refused by the user");
    await rig.leave();
  });

  it("lets a command that is longer than the screen run only once its last line was shown", async () => {
    const command = Array.from({ length: 60 }, (_, index) => `echo line ${index + 1}`).join("\n");
    const rig = await start([bash(`${command}\necho ran > out.txt`), done], { size: { columns: 80, rows: 24 } });
    const { terminal, cwd } = rig;
    await rig.answer("y");
    await terminal.shows("was on the screen yet");
    expect(existsSync(join(cwd, "out.txt"))).toBe(false);
    terminal.keys("v");
    await terminal.until(() => terminal.fact("alternate_on") === "1", { what: "the whole text" });
    terminal.keys("End");
    await terminal.shows("echo ran > out.txt");
    terminal.keys("q");
    await terminal.until(() => terminal.fact("alternate_on") === "0", { what: "the question" });
    terminal.keys("y");
    await terminal.shows("All done.");
    expect(existsSync(join(cwd, "out.txt"))).toBe(true);
    await rig.leave();
  });

  it("Ctrl-C is no, and the run goes on", async () => {
    const rig = await start([bash("echo first"), done]);
    await rig.answer("C-c");
    await rig.terminal.shows("All done.");
    expect(rig.toldModel()).toContain("Refused by the user");
    await rig.leave();
  });
});

const { noSandbox, noView } = sandboxAbility();
const why = [
  ...(tmuxVersion ? [] : [withoutTmux]),
  ...((noSandbox ?? noView) ? [`no sandbox: ${noSandbox ?? noView}`] : []),
];

describe.skipIf(why.length > 0)(`the sandbox at the terminal${why.length > 0 ? ` (${why.join("; ")})` : ""}`, () => {
  it("stages what commands do, unasked; the footer shows the mode, and Ctrl-S and /access change it", async () => {
    const rig = await start([bash("echo staged > out.txt; cat out.txt"), done], { args: [] });
    const { terminal, cwd } = rig;
    await terminal.shows("Access: stage. /access changes it.");
    await terminal.shows(/· stage +acme\/scripted/);
    terminal.write("go");
    terminal.keys("Enter");
    await terminal.shows("All done.");
    await terminal.shows("1 pending");
    expect(rig.toldModel()).toContain("Staged as pa_1");
    expect(existsSync(join(cwd, "out.txt"))).toBe(false);
    terminal.keys("C-s");
    await terminal.shows(/· workspace +acme/);
    terminal.keys("C-s");
    await terminal.shows(/· read-only +acme/);
    terminal.write("/access full");
    terminal.keys("Enter");
    await terminal.shows(/· full +acme/);
    terminal.write("/access");
    terminal.keys("Enter");
    await terminal.shows("Sandbox: off.");
    await rig.leave();
  });

  it("read-only runs commands that change nothing", async () => {
    const rig = await start([bash("touch a.txt; echo still here"), done], { args: ["--access", "read-only", "go"] });
    await rig.terminal.shows("All done.");
    expect(rig.toldModel()).toContain("Read-only file system");
    expect(rig.toldModel()).toContain("still here");
    expect(existsSync(join(rig.cwd, "a.txt"))).toBe(false);
    await rig.leave();
  });

  const escalate = (command: string, id = "c1") => call("bash", { command, escalate: "needs the registry" }, id);

  it("asks about a command that wants to leave the sandbox, every time, and a yes runs it once", async () => {
    const command = "touch ../left; ls .. | grep left";
    const rig = await start([escalate(command), escalate(command, "c2"), done], { args: ["--auto", "go"] });
    const { terminal, cwd } = rig;
    const screen = await terminal.shows(/Run outside the sandbox\?[\s\S]*y once {3}n no/);
    expect(screen).toContain(command);
    expect(screen).toMatch(/in ~\/shop/);
    expect(screen).toContain("The model says: needs the registry");
    expect(screen).not.toContain("for this session");
    await rig.answer("y");
    await terminal.until(() => existsSync(join(cwd, "../left")), { what: "the command" });
    await rig.answer("Escape");
    await terminal.shows("All done.");
    expect(rig.toldModel()).toContain("Refused: the user did not allow this command outside the sandbox.");
    await rig.leave();
  });

  it("asks about a host that a command wants to reach; no blocks it, always is kept", async () => {
    const url = (host: string) =>
      `node -e 'require("http").get({host:"127.0.0.1",port:21128,path:"http://${host}/"},(r)=>r.pipe(process.stdout))'`;
    const rig = await start([bash(url("registry.example")), bash(url("kept.invalid"), "c2"), done], {
      args: ["--auto", "go"],
    });
    const { terminal, agentDir } = rig;
    const screen = await terminal.shows("Allow registry.example:80?");
    expect(screen).toMatch(/y once {3}s session {3}a always {3}n no/);
    await rig.answer("n");
    await terminal.shows("Allow kept.invalid:80?");
    expect(rig.toldModel()).toContain("Network: blocked registry.example:80 (1 time).");
    await rig.answer("a");
    await terminal.shows("All done.");
    expect(readFileSync(join(agentDir, "config.yml"), "utf8")).toContain("kept.invalid:80");
    await rig.leave();
  });
});

describe.skipIf(!tmuxVersion)(`a question about trust${tmuxVersion ? "" : ` (${withoutTmux})`}`, () => {
  const withTool = (cwd: string) => {
    mkdirSync(join(cwd, ".galley/tools"), { recursive: true });
    mkdirSync(join(cwd, ".git"));
    const code = `require("node:fs").writeFileSync(${JSON.stringify(join(cwd, "loaded.txt"))}, "x");
module.exports = () => ({ name: "greet", label: "Greet", description: "Greets", parameters: { type: "object", properties: {} },
  execute: async () => ({ content: [{ type: "text", text: "hello" }] }) });`;
    writeFileSync(join(cwd, ".galley/tools/greet.js"), code);
  };

  it.each([
    ["t", true],
    ["o", true],
    ["n", false],
  ])("loads nothing before the answer; %s", async (key, isLoaded) => {
    const rig = await start([done, openAi.text("Again.")], { args: [], before: withTool });
    const { terminal, cwd } = rig;
    const screen = await terminal.shows("t trust this content");
    expect(screen).toContain("n no   t trust this content   o only this run");
    expect(screen).toContain("greet.js");
    expect(existsSync(join(cwd, "loaded.txt"))).toBe(false);
    await rig.answer(key);
    await terminal.until((now) => !now.includes("trust this content"));
    if (isLoaded) await terminal.until(() => existsSync(join(cwd, "loaded.txt")), { what: "the tool" });
    terminal.write("go");
    terminal.keys("Enter");
    await terminal.shows("All done.");
    expect(existsSync(join(cwd, "loaded.txt"))).toBe(isLoaded);
    terminal.write("again");
    terminal.keys("Enter");
    await terminal.shows("Again.");
    await rig.leave();
  });
});
