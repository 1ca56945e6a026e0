// nothing but frames reaches stdout, whatever code writes there: the guard against a program that tries
// everything, with stdout as each kind of thing a host hands over.

import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { beforeAll, expect, it } from "vitest";
import { temporaryDirectory } from "../kit/temporary-directory.js";

const directory = temporaryDirectory();
const guard = join(directory, "guard.mjs");
const fixture = fileURLToPath(new URL("../fixtures/noisy-host.mjs", import.meta.url));

beforeAll(async () => {
  const source = fileURLToPath(new URL("../../src/cli/guard-stdout.ts", import.meta.url));
  await build({ entryPoints: [source], outfile: guard, bundle: true, platform: "node", format: "esm" });
});

interface Heard {
  stdout: string;
  stderr: string;
}

function run(program: string, args: string[]): Promise<Heard> {
  return new Promise((resolve, reject) => {
    const heard: Heard = { stdout: "", stderr: "" };
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.on("data", (chunk: Buffer) => {
      heard.stdout += chunk.toString();
    });
    child.stderr.on("data", (chunk: Buffer) => {
      heard.stderr += chunk.toString();
    });
    child.on("error", reject);
    child.on("close", () => resolve(heard));
  });
}

const noisy = (how: "plain" | "native") => [fixture, pathToFileURL(guard).href, how];

function expectOnlyFrames({ stdout, stderr }: Heard, leastKinds: number): void {
  const frames = stdout.split("\n").slice(0, -1);
  const parsed = frames.map((line) => (line.startsWith("{") ? (JSON.parse(line) as { after?: string }) : { line }));
  expect(parsed).toEqual(parsed.map((_, n) => ({ type: "frame", n, ...(n > 0 ? { after: expect.any(String) } : {}) })));
  const kinds = parsed.flatMap((frame) => ("after" in frame ? frame.after : []));
  expect(kinds.length).toBeGreaterThanOrEqual(leastKinds);
  for (const kind of kinds) expect(stderr.split(`<noise: ${kind}>`), kind).toHaveLength(2); // there, and once
}

it("as the socket that a Node host hands over", async () => {
  expectOnlyFrames(await run(process.execPath, noisy("plain")), 30);
});

it("as a pipe made by a shell, native code included", async () => {
  // Both streams are pipes here; the outer `cat` reads stdout, the inner one stderr.
  const script = '{ { "$0" "$@" 2>&1 1>&3 3>&- | cat >&2; } 3>&1; } | cat';
  expectOnlyFrames(await run("sh", ["-c", script, process.execPath, ...noisy("native")]), 32);
});

it("as a file", async () => {
  const script = '"$0" "$@" >"$OUT" 2>"$ERR"';
  const [out, err] = [join(directory, "out"), join(directory, "err")];
  await run("env", [`OUT=${out}`, `ERR=${err}`, "sh", "-c", script, process.execPath, ...noisy("plain")]);
  expectOnlyFrames({ stdout: readFileSync(out, "utf8"), stderr: readFileSync(err, "utf8") }, 30);
});

it("as a pipe beside a stderr that is a file, whose beginning stays", async () => {
  const script = '{ echo first >&2; "$0" "$@"; } 2>"$ERR" | cat';
  const err = join(directory, "err-beside-pipe");
  const { stdout } = await run("env", [`ERR=${err}`, "sh", "-c", script, process.execPath, ...noisy("native")]);
  expect(stdout).not.toMatch(/^(?!\{"type":"frame")./m);
  expect(readFileSync(err, "utf8")).toMatch(/^first\n/);
});

it("and no child of a module reads what the host says", async () => {
  const script = `
    import { execSync, fork, spawn } from "node:child_process";
    import { writeFileSync } from "node:fs";
    const { guardFromExtensions, guardStdout } = await import(process.argv[2]);
    const output = guardStdout();
    guardFromExtensions();
    writeFileSync(process.argv[3], "process.stdin.resume()");
    for (const stdio of ["inherit", ["inherit", "ignore", "ignore"], [0, "ignore", 2], [process.stdin, 1, 2]])
      spawn("cat", { stdio });
    fork(process.argv[3]).disconnect();
    execSync("cat", { stdio: "inherit" });
    spawn("cat", { stdio: [{ fd: -1 }, "ignore", "ignore"] });
    let heard = "";
    process.stdin.setEncoding("utf8").on("data", (text) => { heard += text; }).on("end", () => output.write(heard));
    output.write("ready\\n");`;
  const program = join(directory, "reading.mjs");
  writeFileSync(program, script);
  const host = spawn(process.execPath, [program, pathToFileURL(guard).href, join(directory, "child.mjs")]);
  let stdout = "";
  host.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    if (text === "ready\n") void speak();
  });
  const speak = async () => {
    for (let n = 0; n < 50; n++) await new Promise((resolve) => host.stdin.write(`${n}\n`, resolve));
    host.stdin.end();
  };
  await new Promise((resolve) => host.on("close", resolve));
  expect(stdout).toBe(["ready", ...Array(50).keys(), ""].join("\n"));
});
