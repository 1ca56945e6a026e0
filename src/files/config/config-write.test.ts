import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { manualClock } from "../../testing/manual-clock.js";
import { prepareConfigPath, replaceConfigFile, withConfigLock } from "./config-write.js";

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
});

const at = (name: string) => join(directory, name);
const refused = (message: string) => expect.objectContaining({ code: "file_refused", message });

describe("prepareConfigPath", () => {
  it("makes the directory and follows links to the file itself", () => {
    expect(prepareConfigPath(at("a/b/c.yml"))).toBe(at("a/b/c.yml"));
    expect(statSync(at("a/b")).mode & 0o777).toBe(0o700);
    writeFileSync(at("real.yml"), "");
    symlinkSync(at("real.yml"), at("a/b/c.yml"));
    expect(prepareConfigPath(at("a/b/c.yml"))).toBe(at("real.yml"));
  });

  it("refuses what it cannot follow or make", () => {
    writeFileSync(at("file"), "");
    expect(() => prepareConfigPath(at("file/c.yml"))).toThrow(refused(`Cannot write ${at("file/c.yml")} (EEXIST).`));
    symlinkSync(at("gone"), at("dangling.yml"));
    expect(() => prepareConfigPath(at("dangling.yml"))).toThrow(
      refused(`Cannot write ${at("dangling.yml")} (ENOENT).`),
    );
  });
});

describe("replaceConfigFile", () => {
  it("writes a new file that only the user can read, and keeps the mode of an old one", () => {
    expect(replaceConfigFile(at("c.yml"), { expected: undefined, text: "a" })).toBe(true);
    expect(statSync(at("c.yml")).mode & 0o777).toBe(0o600);
    writeFileSync(at("d.yml"), "old", { mode: 0o644 });
    expect(replaceConfigFile(at("d.yml"), { expected: "old", text: "nü" })).toBe(true);
    expect(readFileSync(at("d.yml"), "utf8")).toBe("nü");
    expect(statSync(at("d.yml")).mode & 0o777).toBe(0o644);
    expect(readdirSync(directory).sort()).toEqual(["c.yml", "d.yml"]);
  });

  it("puts a new file in the place of the old one rather than writing into it", () => {
    writeFileSync(at("c.yml"), "old");
    const before = statSync(at("c.yml")).ino;
    replaceConfigFile(at("c.yml"), { expected: "old", text: "new" });
    expect(statSync(at("c.yml")).ino).not.toBe(before);
  });

  it.each([
    ["changed", "other", "old"],
    ["appeared", "other", undefined],
    ["vanished", undefined, "old"],
  ])("leaves a file alone that %s meanwhile", (_, current, expected) => {
    if (current !== undefined) writeFileSync(at("c.yml"), current);
    expect(replaceConfigFile(at("c.yml"), { expected, text: "mine" })).toBe(false);
    expect(readdirSync(directory)).toEqual(current === undefined ? [] : ["c.yml"]);
    if (current !== undefined) expect(readFileSync(at("c.yml"), "utf8")).toBe(current);
  });

  it("leaves nothing behind when the disk says no", () => {
    mkdirSync(at("c.yml"));
    const change = { expected: undefined, text: "x" };
    expect(() => replaceConfigFile(at("c.yml"), change)).toThrow(
      refused(`Cannot write ${at("c.yml")} (is not a regular file).`),
    );
    expect(() => replaceConfigFile(at("gone/c.yml"), change)).toThrow(
      refused(`Cannot write ${at("gone/c.yml")} (ENOENT).`),
    );
    expect(readdirSync(directory)).toEqual(["c.yml"]);
  });
});

describe("withConfigLock", () => {
  it("lets one caller work at a time, and every caller in the end", async () => {
    let inside = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, ++inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside--;
      return "done";
    };
    const ends = await Promise.all(Array.from({ length: 10 }, () => withConfigLock(at("c.yml"), work)));
    expect(ends).toEqual(Array(10).fill("done"));
    expect(most).toBe(1);
  });

  it("does not make different files wait for each other", async () => {
    await withConfigLock(at("a.yml"), () => withConfigLock(at("b.yml"), async () => {}));
  });

  it("lets go when the work fails", async () => {
    await expect(withConfigLock(at("c.yml"), () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await withConfigLock(at("c.yml"), async () => 1)).toBe(1);
  });

  it("gives up after five seconds", async () => {
    const clock = manualClock();
    let letGo = () => {};
    const working = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const held = withConfigLock(at("c.yml"), () => working);
    const second = withConfigLock(at("c.yml"), async () => "never", clock);
    const failed = expect(second).rejects.toMatchObject({
      code: "timeout",
      message: `Another program is writing ${at("c.yml")}. Nothing was changed.`,
    });
    await vi.waitFor(() => expect(clock.pendingTimers).toBe(1), { timeout: 10_000, interval: 5 });
    clock.advance(5000);
    await failed;
    letGo();
    await held;
  });

  it("is free again when its holder is killed", async () => {
    const program = at("hold.cjs");
    const contents = `
      import { withConfigLock } from "./config-write.js";
      void withConfigLock(process.argv[2], () => new Promise(() => {
        console.log("held");
        setInterval(() => {}, 1000);
      }));`;
    const resolveDir = fileURLToPath(new URL(".", import.meta.url));
    await build({ stdin: { contents, resolveDir }, bundle: true, platform: "node", format: "cjs", outfile: program });
    const child = spawn(process.execPath, [program, at("c.yml")], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child.stdout, "data");
    const steps: string[] = [];
    const clock = manualClock();
    const waiting = withConfigLock(at("c.yml"), async () => void steps.push("worked"), clock);
    await vi.waitFor(() => expect(clock.pendingTimers).toBe(1), { timeout: 10_000, interval: 5 });
    steps.push("killed");
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
    clock.advance(100);
    await waiting;
    expect(steps).toEqual(["killed", "worked"]);
  });
});
