import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, it, vi } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { startWorker, type WorkerProcess } from "./worker-process.js";

const echo = `
  process.on("disconnect", () => process.exit(0));
  process.on("message", (message) => process.send({ echo: message, args: process.argv.slice(1) }));
  console.log("this would be a broken frame");
  process.send({ env: Object.keys(process.env), cwd: process.cwd() });
`;

function start(script: string, args: string[] = []) {
  const messages: unknown[] = [];
  let onMessage = () => {};
  let worker: WorkerProcess | undefined;
  const ended = new Promise<string>((resolve) => {
    worker = startWorker({
      script,
      args,
      onMessage(message) {
        messages.push(message);
        onMessage();
      },
      onEnd: ({ reason }) => resolve(reason),
    });
    worker.hold(true);
  });
  const received = (count: number) =>
    new Promise<void>((resolve) => {
      onMessage = () => messages.length >= count && resolve();
      onMessage();
    });
  return { worker: worker as WorkerProcess, messages, ended, received };
}

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    // A zombie waits for whoever adopted it; it does nothing any more.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};

it("a worker answers messages, bytes included, and prints nothing", async () => {
  vi.stubEnv("EXAMPLE_API_KEY", "secret");
  const { worker, messages, ended, received } = start(echo, ["--one", "two"]);
  vi.unstubAllEnvs();
  worker.send({ bytes: Uint8Array.of(1, 2), text: "é" });
  await received(2);
  expect(messages[0]).toMatchObject({ cwd: "/" });
  expect((messages[0] as { env: string[] }).env).not.toContain("EXAMPLE_API_KEY");
  expect(messages[1]).toEqual({ echo: { bytes: Uint8Array.of(1, 2), text: "é" }, args: ["--one", "two"] });
  worker.kill();
  expect(await ended).toBe("it ended with SIGKILL");
  worker.send("too late");
  worker.kill();
});

it.runIf(process.platform === "linux")("has a group of its own", async () => {
  const { worker, ended, received } = start(echo);
  await received(1);
  const [, , , , group] = readFileSync(`/proc/${worker.pid}/stat`, "utf8").split(" ");
  expect(Number(group)).toBe(worker.pid);
  worker.kill();
  await ended;
});

it("says why it ended, after everything that was sent before", async () => {
  const crash = start('process.send("last words", () => process.abort());');
  expect(await crash.ended).toMatch(/^it ended with SIG/);
  expect(crash.messages).toEqual(["last words"]);
  expect(await start('throw new Error("no such thing")').ended).toBe("Error: no such thing");
  expect(await start('console.error("thread panicked at x.rs\\nTODO: OpenLib"); process.exit(3)').ended).toBe(
    "TODO: OpenLib",
  );
});

it.runIf(process.platform === "linux")("ends when we are killed", async () => {
  const directory = temporaryDirectory();
  const outfile = join(directory, "host.mjs");
  const source = fileURLToPath(new URL("worker-process.ts", import.meta.url));
  const contents = `
    import { startWorker } from ${JSON.stringify(source)};
    const worker = startWorker({
      script: 'process.on("disconnect", () => process.exit(0)); process.send(1);',
      args: [],
      onMessage: () => process.stdout.write(String(worker.pid)),
      onEnd() {},
    });
    worker.hold(true);
  `;
  await build({ stdin: { contents, resolveDir: directory }, outfile, bundle: true, format: "esm", platform: "node" });
  const host = spawn(process.execPath, [outfile], { stdio: ["ignore", "pipe", "inherit"] });
  const pid = await new Promise<number>((resolve) => host.stdout.once("data", (text) => resolve(Number(text))));
  expect(isAlive(pid)).toBe(true);
  host.kill("SIGKILL");
  await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 10_000 });
});
