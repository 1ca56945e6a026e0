import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { authEntryNames, authFileProblem, changeAuthFile } from "./auth-file.js";

let directory: string;
let file: string;
beforeEach(() => {
  directory = temporaryDirectory();
  file = join(directory, "auth.json");
});

const entry = (key: string) => ({ type: "api_key", key });
const put = (text: string, mode = 0o600) => {
  writeFileSync(file, text);
  chmodSync(file, mode);
};
const text = () => readFileSync(file, "utf8");
const content = () => JSON.parse(text()) as Record<string, unknown>;
const change = (changes: Record<string, object | undefined>) => changeAuthFile(file, new Map(Object.entries(changes)));

describe("changeAuthFile", () => {
  it("makes the file and its directory for this user only, and leaves nothing else there", async () => {
    file = join(directory, "home", "agent", "auth.json");
    expect(await change({ acme: entry("k") })).toEqual([]);
    expect(text()).toBe('{\n  "acme": {"type":"api_key","key":"k"}\n}\n');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(directory, "home")).mode & 0o777).toBe(0o700);
    expect(statSync(join(directory, "home", "agent")).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(directory, "home", "agent"))).toEqual(["auth.json"]);
  });

  it("replaces and removes, and tells what was there", async () => {
    put(JSON.stringify({ a: entry("1"), b: entry("2") }));
    expect(await change({ a: entry("3"), c: entry("4") })).toEqual(["a"]);
    expect(content()).toEqual({ b: entry("2"), a: entry("3"), c: entry("4") });
    expect(await change({ a: undefined, c: undefined, d: undefined })).toEqual(["a", "c"]);
    expect(content()).toEqual({ b: entry("2") });
    expect(await change({ b: undefined })).toEqual(["b"]);
    expect(text()).toBe("{}\n");
  });

  it("writes nothing when there is nothing to remove", async () => {
    expect(await change({ a: undefined })).toEqual([]);
    expect(existsSync(file)).toBe(false);
    put('{"b":1}');
    expect(await change({ a: undefined })).toEqual([]);
    expect(text()).toBe('{"b":1}');
  });

  it("keeps entries that it does not know as they were written", async () => {
    const unknown = '{ "id": 12345678901234567890, "x": 1.10, "u": "\\u00e9\\"}{", "l": [ "a:b", {"c": ","} ] }';
    put(`{"__proto__": ${unknown}, "o{a\\"": "text", "n":null,\n"l":[1, 2]}`);
    await change({ acme: entry("k") });
    expect(text()).toBe(
      `{\n  "__proto__": ${unknown},\n  "o{a\\"": "text",\n  "n": null,\n  "l": [1, 2],\n  "acme": {"type":"api_key","key":"k"}\n}\n`,
    );
  });

  it("keeps any other JSON object", async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 2), async (before, indent) => {
        put(JSON.stringify(before, undefined, indent));
        await change({ acme: entry("k") });
        expect(content()).toEqual(JSON.parse(JSON.stringify({ ...before, acme: entry("k") })));
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    ["{broken", "is not a JSON object, so it is left as it is"],
    ["[1]", "is not a JSON object, so it is left as it is"],
  ])("refuses %j and quotes nothing of it", async (before, reason) => {
    put(before);
    await expect(change({ a: entry("k") })).rejects.toMatchObject({
      code: "file_refused",
      message: `${file}: ${reason}`,
    });
    expect(text()).toBe(before);
  });

  it.each([0o644, 0o640, 0o604, 0o400, 0o700])("neither uses nor changes one with mode %o", async (mode) => {
    put('{"a":1}', mode);
    const octal = mode.toString(8).padStart(4, "0");
    const message = `${file}: not used, because its mode is ${octal} and not 0600; run chmod 600 on it`;
    await expect(change({ a: undefined })).rejects.toThrow(message);
    expect(() => authEntryNames(file)).toThrow(message);
    expect(authFileProblem({ path: file, text: "", mode })).toBe(message.slice(file.length + 2));
    expect([text(), statSync(file).mode & 0o777]).toEqual(['{"a":1}', mode]);
  });

  it("writes through a link, which stays one", async () => {
    mkdirSync(join(directory, "kept"));
    writeFileSync(join(directory, "kept", "keys"), "", { mode: 0o600 });
    symlinkSync(join(directory, "kept", "keys"), file);
    await change({ a: entry("k") });
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(content()).toEqual({ a: entry("k") });
    expect(authEntryNames(file)).toEqual(["a"]);
  });
});

it("six processes that write at the same time lose nothing", async () => {
  put(JSON.stringify({ mine: { type: "other", n: 1 } }));
  const program = join(directory, "writer.mjs");
  await build({
    stdin: {
      contents: `import { changeAuthFile } from "./auth-file.js";
        const [file, name] = process.argv.slice(2);
        for (let n = 0; n < 4; n++) {
          await changeAuthFile(file, new Map([[name + n, { type: "api_key", key: name }]]));
          if (n > 0) await changeAuthFile(file, new Map([[name + (n - 1), undefined]]));
        }`,
      resolveDir: fileURLToPath(new URL(".", import.meta.url)),
      loader: "ts",
    },
    bundle: true,
    format: "esm",
    platform: "node",
    outfile: program,
    logLevel: "silent",
  });
  const names = ["a", "b", "c", "d", "e", "f"];
  const ends = await Promise.all(
    names.map(async (name) => {
      const child = spawn(process.execPath, [program, file, name], { stdio: "inherit" });
      const [code] = (await once(child, "close")) as [number];
      return code;
    }),
  );
  expect(ends).toEqual([0, 0, 0, 0, 0, 0]);
  expect(content()).toEqual({
    mine: { type: "other", n: 1 },
    ...Object.fromEntries(names.map((name) => [`${name}3`, entry(name)])),
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(directory).toSorted()).toEqual(["auth.json", "writer.mjs"]);
}, 60_000);
