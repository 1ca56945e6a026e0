// The built program, driven as a host drives it. What is pinned: the first line, the answer to each kind of malformed
// line, the ways out with their codes, and that nothing a host does makes memory grow without bound.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { openAi } from "../../src/testing/scripted-replies.js";
import { type Reply, type ScriptedServer, stall, startScriptedServer } from "../../src/testing/scripted-server.js";
import { ensureBuilt, modelsAt, RpcHost, type StartOptions } from "../kit/rpc-host.js";
import { temporaryDirectory } from "../kit/temporary-directory.js";

const opened: (RpcHost | ScriptedServer)[] = [];

beforeAll(ensureBuilt, 150_000);

afterEach(async () => {
  for (const thing of opened.splice(0).reverse()) await ("dispose" in thing ? thing.dispose() : thing.close());
});

function start(options: StartOptions = {}): RpcHost {
  const host = new RpcHost(options);
  opened.push(host);
  return host;
}

async function startWith(script: readonly Reply[], options: StartOptions = {}): Promise<RpcHost> {
  const server = await startScriptedServer(script);
  opened.push(server);
  return start({ models: modelsAt(server.url), ...options });
}

/** A reply that begins and never ends. */
const endless: Reply = { steps: [openAi.chunk({ content: "Hm" }), stall], mayBeLeft: true };

const accepted = (disposition: string) => ({
  id: "p",
  type: "response",
  command: "prompt",
  success: true,
  data: { disposition },
});

const failedToParse = (reason: string) => ({
  type: "response",
  command: "parse",
  success: false,
  error: `Failed to parse command: ${reason}`,
});

describe("the start", () => {
  it("writes ready first, exactly as the page says", async () => {
    const host = start();
    await host.waitForType("ready");
    const page = readFileSync(new URL("../../docs/rpc.md", import.meta.url), "utf8");
    expect(page.split("\n")).toContain(host.lines[0]);
  });

  it("answers in order what was sent before ready", async () => {
    const host = start();
    for (let id = 0; id < 50; id++) host.send({ id, type: id % 2 ? "get_last_assistant_text" : "get_state" });
    await host.waitForResponse(49);
    expect(host.frames[0]?.type).toBe("ready");
    expect(host.frames.slice(1).map(({ id }) => id)).toEqual(Array.from({ length: 50 }, (_, id) => id));
  });

  it("runs a prompt without a key on the planner", async () => {
    const host = start({ files: { "a.txt": "one line\n" } });
    host.send({ id: "s", type: "get_state" }, { id: "p", type: "prompt", message: "show a.txt" });
    const state = await host.waitForResponse("s");
    expect(state.data).toMatchObject({ model: { provider: "galley", id: "planner" }, isStreaming: false });
    await host.waitForType("agent_settled");
    const [answer, ...events] = host.frames.slice(2);
    expect(answer).toEqual(accepted("started"));
    expect(events[0]?.type).toBe("agent_start");
    expect(host.frames.some(({ type }) => type === "tool_execution_end")).toBe(true);
    host.send({ id: "t", type: "get_last_assistant_text" });
    expect((await host.waitForResponse("t")).data).toEqual({ text: "one line" });
  });

  it.each([
    ["an @file argument", ["@notes.md"], "Error: @file arguments are not supported in RPC mode\n"],
    ["an unknown model", ["--model", "nope/nope"], "Model not found: nope/nope\n"],
    ["an unknown provider", ["--provider", "nope"], "Model not found: nope\n"],
    [
      "a directory that is not there",
      ["--cwd", "/nowhere/at/all"],
      "Working directory does not exist: /nowhere/at/all\n",
    ],
  ])("fails for %s: one line on stderr, nothing on stdout, exit 1", async (_, args, text) => {
    const host = start({ args });
    expect(await host.exit()).toMatchObject({ code: 1, signal: null });
    expect(host.stderr).toBe(text);
    expect(host.lines).toEqual([]);
  });

  it("only warns of unknown flags, and ignores words", async () => {
    const host = start({ args: ["--frobnicate", "--no-title", "some", "words"] });
    host.send({ id: "a", type: "get_state" });
    await host.waitForResponse("a");
    expect(host.frames.map(({ type }) => type)).toEqual(["ready", "response"]);
    expect(host.stderr).toMatch(/^galley: Unknown option --frobnicate\..*\n$/);
  });

  it("starts with a model that has no key, and fails its prompts late", async () => {
    const models = modelsAt("http://127.0.0.1:9", "$NO_SUCH_KEY");
    const host = start({ args: ["--model", "acme/scripted"], models });
    host.send({ id: "s", type: "get_state" }, { id: "p", type: "prompt", message: "Hi" });
    expect((await host.waitForResponse("s")).data).toMatchObject({ model: { provider: "acme", id: "scripted" } });
    expect(await host.waitForResponse("p")).toEqual(accepted("handled"));
    const late = await host.waitForResponse("p");
    expect(late).toMatchObject({ command: "prompt", success: false });
    expect(late.error).toMatch(/^No API key found for acme\./);
  });
});

describe("a line that is no command", () => {
  const kinds: [string, string | Uint8Array, string][] = [
    ["malformed JSON", "hello", `Unexpected token 'h', "hello" is not valid JSON`],
    ["null", "null", "Expected a JSON object, got null"],
    ["an array", "[]", "Expected a JSON object, got an array"],
    ["a number", "7", "Expected a JSON object, got a number"],
    ["a string", '"get_state"', "Expected a JSON object, got a string"],
    ["an object without type", '{"id":"x"}', 'Expected a string member "type"'],
    ["a type that is no string", '{"id":"x","type":7}', 'Expected a string member "type"'],
    ["invalid UTF-8", Buffer.from([...Buffer.from('{"type":"'), 0xc3, 0x28, ...Buffer.from('"}')]), "Invalid UTF-8"],
    ["a half surrogate", Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), "Invalid UTF-8"],
    [
      "a byte order mark inside the stream",
      '\uFEFF{"type":"abort"}',
      `Unexpected token '\uFEFF', "\uFEFF{"type":"abort"}" is not valid JSON`,
    ],
    ["a NUL", '{"type":"abort"}\u0000', "Unexpected non-whitespace character after JSON at position 16"],
    ["deep nesting", `{"type":"abort","v":${"[".repeat(10_000)}${"]".repeat(10_000)}}`, "Nesting exceeds 128 levels"],
    [
      "a million keys",
      `{"type":"abort",${Array.from({ length: 1_000_000 }, (_, key) => `"${key}":0`).join(",")}}`,
      "An object has more than 100000 keys",
    ],
  ];

  it("costs one answer each, and the next command is answered", async () => {
    const host = start();
    host.send({ id: "first", type: "abort" });
    for (const [index, [, bytes]] of kinds.entries()) {
      void host.sendBytes(bytes);
      void host.sendBytes("\n");
      host.send({ id: index, type: "abort" });
    }
    await host.waitForResponse(kinds.length - 1);
    const answers = host.frames.slice(2);
    for (const [index, [name, , reason]] of kinds.entries()) {
      const [refused, next] = answers.slice(2 * index, 2 * index + 2);
      expect(refused, name).toEqual(failedToParse(reason));
      expect(next, name).toEqual({ id: index, type: "response", command: "abort", success: true });
    }
    expect(answers).toHaveLength(2 * kinds.length);
  });

  it("F-45: of 100 MB is dropped in constant memory", async () => {
    const host = start();
    host.send({ id: "before", type: "abort" });
    await host.waitForResponse("before");
    const { nowBytes } = host.memory;
    const megabyte = Buffer.alloc(1024 * 1024, "x");
    for (let count = 0; count < 100; count++) await host.sendBytes(megabyte);
    void host.sendBytes("\n");
    host.send({ id: "after", type: "abort" });
    await host.waitForResponse("after");
    expect(host.frames.slice(2, -1)).toEqual([failedToParse("Record exceeds 67108864 bytes")]);
    expect(host.memory.peakBytes - nowBytes).toBeLessThan(160 * 1024 * 1024);
  });

  it("gets no answer when it is blank", async () => {
    const host = start();
    void host.sendBytes("\n\r\n   \t \n\n");
    host.send({ id: "a", type: "abort" });
    await host.waitForResponse("a");
    expect(host.frames).toHaveLength(2);
  });
});

describe("framing", () => {
  it("knows LF as the only separator, in both directions", async () => {
    const host = start();
    const text = "a\u2028b\u2029c\u0085d\fe";
    host.send({ id: "a", type: "steer", message: text }, { id: text, type: "abort" });
    expect(await host.waitForResponse(text)).toMatchObject({ success: true });
    expect(host.lines.at(-1)).not.toMatch(/[\u0085\u2028\u2029]/); // a careless reader keeps the frame whole
    expect(host.frames).toHaveLength(3);
  });

  it("takes CRLF, and a byte order mark at the start of the stream", async () => {
    const host = start();
    void host.sendBytes('\uFEFF{"id":"a","type":"abort"}\r\n{"id":"b","type":"abort"}\r\n');
    await host.waitForResponse("b");
    expect(host.frames.map(({ success }) => success)).toEqual([undefined, true, true]);
  });

  it("takes a character that comes in two writes, and a line that comes byte by byte", async () => {
    const host = start();
    await host.waitForType("ready");
    const line = Buffer.from('{"id":"प🙂","type":"abort"}\n');
    for (const byte of line) await host.sendBytes(Uint8Array.of(byte));
    expect(await host.waitForResponse("प🙂")).toMatchObject({ success: true });
  });

  it("takes a last line without LF at the end of input", async () => {
    const host = start();
    void host.sendBytes('{"id":"a","type":"abort"}');
    host.end();
    expect(await host.exit()).toMatchObject({ code: 0 });
    expect(host.frames.slice(1)).toEqual([{ id: "a", type: "response", command: "abort", success: true }]);
  });

  it("refuses a torn last line at the end of input", async () => {
    const host = start();
    void host.sendBytes('{"id":"a","type":"ab');
    host.end();
    expect(await host.exit()).toMatchObject({ code: 0 });
    expect(host.frames.slice(1)).toMatchObject([{ command: "parse", success: false }]);
  });
});

const closing = ["message_end", "turn_end", "agent_end", "agent_settled"];

describe("the end", () => {
  it("of input while idle: exit 0", async () => {
    const host = start();
    host.send({ id: "a", type: "get_state" });
    host.end();
    expect(await host.exit()).toMatchObject({ code: 0, signal: null });
    expect(host.frames.map(({ type }) => type)).toEqual(["ready", "response"]);
    expect(host.stderr).toBe("");
  });

  it("of input at once, before anything was sent: ready, exit 0", async () => {
    const host = start();
    host.end();
    expect(await host.exit()).toMatchObject({ code: 0 });
    expect(host.frames.map(({ type }) => type)).toEqual(["ready"]);
  });

  it("of input during a run: answers, closing events, exit 0 within 5 s", async () => {
    const host = await startWith([endless]);
    host.send({ id: "p", type: "prompt", message: "Think" });
    await host.waitForType("message_update");
    host.send({ id: "s", type: "get_state" });
    host.end();
    const { code, tookMs } = await host.exit();
    expect(code).toBe(0);
    expect(tookMs).toBeLessThan(5000);
    expect(host.frames.map(({ type }) => type).slice(-4)).toEqual(closing);
    expect(host.frames.some(({ id }) => id === "s")).toBe(true);
    const last = host.frames.findLast(({ type }) => type === "message_end")?.message;
    expect(last).toMatchObject({ stopReason: "aborted", errorMessage: "Request was aborted" });
    expect(host.stderr).toBe("");
  });

  it("of input right behind a prompt: the prompt is answered and its run closed", async () => {
    const server = await startScriptedServer([endless]);
    const host = start({ models: modelsAt(server.url) });
    host.send({ id: "p", type: "prompt", message: "Think" });
    host.end();
    expect(await host.exit()).toMatchObject({ code: 0 });
    expect(host.frames[1]).toEqual(accepted("started"));
    expect(host.frames.at(-1)?.type).toBe("agent_settled");
    await server.close().catch(() => {}); // whether the model is still asked is a matter of moments
  });

  it.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
    ["SIGHUP", 129],
  ] as const)("%s: exit %i, idle or in a run, with the closing events", async (signal, code) => {
    const idle = start();
    await idle.waitForType("ready");
    idle.child.kill(signal); // as early as a host can know of it
    expect(await idle.exit()).toMatchObject({ code, signal: null });

    const busy = await startWith([endless]);
    busy.send({ id: "p", type: "prompt", message: "Think" });
    await busy.waitForType("message_update");
    busy.child.kill(signal);
    const exit = await busy.exit();
    expect(exit).toMatchObject({ code, signal: null });
    expect(exit.tookMs).toBeLessThan(5000);
    expect(busy.frames.map(({ type }) => type).slice(-4)).toEqual(closing);
    expect(idle.stderr + busy.stderr).toBe("");
  });

  it("a second signal does not wait for the reader", async () => {
    const host = await startWith([{ ...openAi.manyDeltas(40_000, "x".repeat(200)), mayBeLeft: true }]);
    await host.waitForType("ready");
    host.child.stdout?.pause();
    host.send({ id: "p", type: "prompt", message: "Talk" });
    await host.untilStalled();
    const code = new Promise((resolve) => host.child.on("exit", resolve)); // "close" would wait for our reading
    const start = performance.now();
    host.end(); // the orderly way would take seconds
    host.child.kill("SIGHUP");
    host.child.kill("SIGTERM");
    expect([129, 143]).toContain(await code);
    expect(performance.now() - start).toBeLessThan(2000);
  });

  it("a signal closes the session of a host that does not read", async () => {
    const directory = temporaryDirectory();
    const closed = join(directory, "closed");
    const extension = `import { writeFileSync } from "node:fs";
      export default (pi) => pi.on("session_shutdown", () => writeFileSync(${JSON.stringify(closed)}, ""));`;
    const host = await startWith([{ ...openAi.manyDeltas(40_000, "x".repeat(200)), mayBeLeft: true }], {
      files: { "e.ts": extension },
      args: ["-e", "e.ts"],
    });
    await host.waitForType("ready");
    host.child.stdout?.pause();
    host.send({ id: "p", type: "prompt", message: "Talk" });
    await host.untilStalled();
    const code = new Promise((resolve) => host.child.on("exit", resolve)); // "close" would wait for our reading
    host.child.kill("SIGTERM");
    expect(await code).toBe(143);
    expect(existsSync(closed)).toBe(true);
  });

  it("of the reader: exits by itself with 1 and no stack trace, idle or in a run", async () => {
    const idle = start();
    await idle.waitForType("ready");
    idle.child.stdout?.destroy();
    idle.send({ id: "a", type: "get_state" });
    expect(await idle.exit()).toMatchObject({ code: 1, signal: null });
    expect(idle.stderr).toBe("");

    const busy = await startWith([{ ...openAi.manyDeltas(100_000), mayBeLeft: true }]);
    busy.send({ id: "p", type: "prompt", message: "Talk" });
    await busy.waitForType("message_update");
    busy.child.stdout?.destroy();
    expect(await busy.exit()).toMatchObject({ code: 1, signal: null });
    expect(busy.stderr).toBe("");
  });
});

describe("a model that misbehaves", () => {
  it("with arguments nested without end: every frame arrives, and the run closes", async () => {
    const deep = `{"path":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
    const call = openAi.toolCalls([{ id: "call_1", name: "read", arguments: deep }]);
    const host = await startWith([call, openAi.text("Well.")]);
    host.send({ id: "p", type: "prompt", message: "Read" });
    await host.waitForType("agent_settled");
    const types = host.frames.map(({ type }) => type);
    for (const type of ["message_start", "tool_execution_start", "turn_start", "agent_start"])
      expect(types.filter((other) => other === type.replace("start", "end"))).toHaveLength(
        types.filter((other) => other === type).length,
      );
    expect(types).not.toContain("extension_error");
    host.send({ id: "a", type: "get_messages" });
    expect(await host.waitForResponse("a")).toMatchObject({ success: true });
    expect(host.stderr).toBe("");
  });
});

describe("a reader that stops", () => {
  const boundBytes = 128 * 1024 * 1024; // most of it is what the garbage collector leaves for later

  it("F-46: during a long reply: memory stays bounded, and nothing but merged updates is lost", async () => {
    const count = 50_000; // with the whole message in every update some 15 GB
    const host = await startWith([openAi.manyDeltas(count, "word ")]);
    host.send({ id: "p", type: "prompt", message: "Talk" });
    await host.waitForType("message_start");
    host.child.stdout?.pause();
    const { nowBytes } = host.memory;
    await host.untilStalled();
    host.child.stdout?.resume();
    await host.waitForType("agent_settled");
    expect(host.memory.peakBytes - nowBytes).toBeLessThan(boundBytes);
    const deltas = host.frames.map(({ assistantMessageEvent }) => (assistantMessageEvent as { delta?: string })?.delta);
    expect(deltas.filter((delta) => delta !== undefined).join("")).toBe("word ".repeat(count));
    expect(host.frames.map(({ type }) => type).slice(-4)).toEqual(closing);
  });

  it("while commands with large answers pour in: every one is answered once the host reads again", async () => {
    const host = start();
    host.send({ id: "p", type: "prompt", message: "x".repeat(1024 * 1024) });
    await host.waitForType("agent_settled");
    host.child.stdout?.pause();
    const { nowBytes } = host.memory;
    const count = 200; // 200 MiB of answers
    const before = host.frames.length;
    host.send(...Array.from({ length: count }, (_, id) => ({ id, type: "get_messages" })));
    await host.untilStalled();
    expect(host.memory.peakBytes - nowBytes).toBeLessThan(boundBytes);
    host.child.stdout?.resume();
    await host.waitForResponse(count - 1);
    expect(host.frames.slice(before).map(({ id }) => id)).toEqual(Array.from({ length: count }, (_, id) => id));
  });

  it("pauses the reading of commands", async () => {
    const host = start();
    await host.waitForType("ready");
    host.child.stdout?.pause();
    const count = 5000;
    let isTaken = false;
    const padding = "x".repeat(400); // more than all buffers on the way take
    const line = (id: number) => `{"id":${id},"type":"get_state","padding":"${padding}"}\n`;
    const batch = Array.from({ length: count }, (_, id) => line(id)).join("");
    const taken = host.sendBytes(batch).then(() => {
      isTaken = true;
    });
    await host.untilStalled();
    expect(isTaken).toBe(false);
    host.child.stdout?.resume();
    await Promise.all([taken, host.waitForResponse(count - 1)]);
    expect(host.frames.slice(1).map(({ id }) => id)).toEqual(Array.from({ length: count }, (_, id) => id));
  });
});
