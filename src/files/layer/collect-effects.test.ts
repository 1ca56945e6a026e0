// What is in the layer after a command, row by row, and what of it becomes an effect.

import { execFileSync } from "node:child_process";
import { chmodSync, lstatSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createRig, noViews, shortForm, stagedAfter, viewTitle } from "./layer.test-kit.js";
import { defaultStageLimits } from "./stage-limits.js";
import type { Effects } from "./stage-view.js";

describe.skipIf(noViews !== undefined)(`the effects of a staged command${viewTitle}`, () => {
  it("has bytes, permissions and the time of a changed file", async () => {
    const { root, run } = await createRig({ a: "one" });
    const { effects } = await run("echo two > a; touch -d '2020-01-02 03:04:05.5 UTC' a");
    expect(effects).toEqual([
      {
        path: join(root, "a"),
        before: { type: "file", bytes: Buffer.from("one"), mode: 0o644, mtimeMs: statSync(join(root, "a")).mtimeMs },
        after: { type: "file", bytes: Buffer.from("two\n"), mode: 0o644, mtimeMs: Date.UTC(2020, 0, 2, 3, 4, 5, 500) },
      },
    ]);
  });

  it("has only the mode where the bytes are the same", async () => {
    const { run } = await createRig({ "run.sh": "#!/bin/sh\n" });
    const { effects } = await run("chmod 755 run.sh");
    expect(effects).toMatchObject([
      { before: { mode: 0o644 }, after: { mode: 0o755, bytes: Buffer.from("#!/bin/sh\n") } },
    ]);
    expect(effects).toHaveLength(1);
  });

  it("has nothing for what was touched, rewritten, or made and removed again", async () => {
    const { run } = await createRig({ a: "one", "d/b": "two", l: "-> a" });
    const command =
      "touch a d/b d; cat a > t && mv t a; mkdir x && echo y > x/y && rm -r x; ln -sfn a l; chmod 755 d; chmod 700 d; chmod 755 d";
    expect(await run(command)).toMatchObject({ effects: [], notStaged: [], kept: { files: 0, bytes: 0 } });
  });

  it("has new files, links and directories; a directory only if it is empty or has a mode of its own", async () => {
    const { root, run } = await createRig({ a: "one" });
    const found = await run(
      "mkdir empty full private; echo x > full/x; chmod 700 private; echo y > private/y; ln -s nowhere l",
    );
    expect(shortForm(found, root)).toEqual([
      "A empty > directory",
      "A full/x",
      "A l > symlink",
      "A private > directory",
      "A private/y",
    ]);
  });

  it("names every deleted file and directory, also of a directory that was made again", async () => {
    const { root, run } = await createRig({ "d/a": "1", "d/e/b": "2", "f/c": "3", "f/g/h": "4", k: "5" });
    const found = await run("rm -r d; rm -r f; mkdir f; echo new > f/new; rm k");
    expect(shortForm(found, root)).toEqual([
      "D d directory",
      "D d/a",
      "D d/e directory",
      "D d/e/b",
      "D f/c",
      "D f/g directory",
      "D f/g/h",
      "A f/new",
      "D k",
    ]);
  });

  it("has one effect for a path whose type changed", async () => {
    const { root, run } = await createRig({ a: "1", "d/x": "2", l: "-> a", b: "3" });
    const found = await run(
      "rm a; mkdir a; echo y > a/y; rm -r d; echo file > d; rm l; echo file > l; rm b; ln -s l b",
    );
    expect(shortForm(found, root)).toEqual([
      "M a > directory",
      "A a/y",
      "M b > symlink",
      "M d directory",
      "D d/x",
      "M l symlink",
    ]);
  });

  it("reads what nobody may read, and keeps the mode", async () => {
    const { root, run } = await createRig({ a: "1", "d/x": "2" });
    const found = await run(
      "echo secret > s; chmod 000 s; echo z > d/z; chmod 000 d; mkdir n; echo w > n/w; chmod 000 n",
    );
    expect(shortForm(found, root)).toEqual(["M d directory > directory", "A d/z", "A n > directory", "A n/w", "A s"]);
    const modes = found.effects.map(({ after }) => after && "mode" in after && after.mode);
    expect(modes).toEqual([0, 0o644, 0, 0o644, 0]);
  });

  it("makes separate files of the names of one file", async () => {
    const { run } = await createRig({ a: "1" });
    const { effects } = await run("echo x > n; ln n m");
    expect(effects.map(({ hardlinkBroken }) => hardlinkBroken)).toEqual([true, true]);
  });

  it("leaves out what cannot be staged, and says why", async () => {
    const { root, run } = await createRig({ a: "1", "d/x": "2", old: "3" });
    const command = [
      "mkfifo pipe",
      "rm old; mkfifo old",
      "printf x > \"$(printf 'd/b\\377d')\"",
      "echo y > suid; chmod 4755 suid",
      "echo z > \"$(printf 'line\\nbreak')\"",
    ].join("; ");
    const found = await run(command);
    expect(shortForm(found, root)).toEqual(["A suid"]);
    expect(found.effects[0]?.after).toMatchObject({ mode: 0o755 });
    expect(found.notStaged).toEqual([
      { path: "d/b\ufffdd", why: "name is not UTF-8" },
      { path: "line\\nbreak", why: "name with control characters" },
      { path: "old", why: "FIFO" },
      { path: "pipe", why: "FIFO" },
      { path: "suid", why: "setuid bit" },
    ]);
  });

  it("leaves a long file out, holes included, before and after", async () => {
    const limits = { ...defaultStageLimits, maxFileBytes: 1000 };
    const { root, run } = await createRig(
      { a: "1", long: "x".repeat(2000), touched: "y".repeat(2000), "d/long": "z".repeat(2000) },
      { limits },
    );
    const found = await run(
      "truncate -s 1001 hole; truncate -s 1000 fits; echo short > long; touch touched; rm -r d; rm a; truncate -s 2000 a",
    );
    expect(shortForm(found, root)).toEqual(["A fits"]);
    expect(found.notStaged).toEqual(
      ["a", "d/long", "hole", "long"].map((path) => ({ path, why: "larger than 1000 B" })),
    );
  });

  it("stages everything or nothing where the command changed too much", async () => {
    const limits = { ...defaultStageLimits, maxFiles: 3, maxBytes: 2 ** 20 };
    const { root, run } = await createRig({ a: "1", ".gitignore": "*.log\n" }, { limits });
    const few = await run("for i in 1 2 3; do echo $i > n$i; done; for i in 1 2 3 4 5 6; do echo $i > $i.log; done");
    expect(shortForm(few, root)).toHaveLength(3);
    const many = await run("for i in $(seq 1234); do echo $i > n$i; done");
    expect(many).toMatchObject({
      effects: [],
      notStaged: [],
      dropped: {
        files: 1234,
        limit: { files: 3, bytes: 2 ** 20 },
        text: "The command changed 1,234 files (4.9 KiB), more than can be staged (3 files, 1 MiB). Its effects were dropped.",
      },
    });
    const large = await run("ls; head -c 700000 /dev/zero > x; head -c 700000 /dev/zero > y");
    expect(large.dropped?.text).toBe(
      "The command changed 2 files (1.3 MiB), more than can be staged (3 files, 1 MiB). Its effects were dropped.",
    );
    expect(large.output).toBe("1.log\n2.log\n3.log\n4.log\n5.log\n6.log\na\n"); // the view has dropped them, too
  });

  it("V-5: builds on what is staged", async () => {
    const { root, run } = await createRig({ a: "1\n", b: "2\n", "d/c": "3\n", "d/e": "4\n" });
    const first = await run(
      "echo more >> a; rm b; mkdir -p n/m; echo x > n/m/x; rm -r d; ln -s n d; mkdir empty; chmod 711 empty",
    );
    const staged = stagedAfter(first.effects);
    const second = await run("cat a n/m/x d/m/x; ls; ls -ld empty | cut -c1-10", { staged });
    expect(second).toMatchObject({
      effects: [],
      notStaged: [],
      output: "1\nmore\nx\nx\na\nd\nempty\nn\ndrwx--x--x\n",
    });
    const third = await run("rm -r n; echo 2 > b; echo 1 > a; rmdir empty; rm d; mkdir d; echo 3 > d/c", { staged });
    expect(shortForm(third, root)).toEqual([
      "M a",
      "A b",
      "M d symlink > directory",
      "A d/c",
      "D empty directory",
      "D n directory",
      "D n/m directory",
      "D n/m/x",
    ]);
    expect(third.effects[0]).toMatchObject({
      before: { bytes: Buffer.from("1\nmore\n") },
      after: { bytes: Buffer.from("1\n") },
    });
    expect(readFileSync(join(root, "a"), "utf8")).toBe("1\n");
  });

  it("does not follow a link that is now where something is staged as deleted", async () => {
    const { root, run } = await createRig({ "d/x": "1", "outside-by-name/x": "2" });
    const outside = join(root, "..", "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "x"), "precious");
    const { effects } = await run("rm d/x");
    // The user replaces the directory by a link meanwhile.
    rmSync(join(root, "d"), { recursive: true });
    execFileSync("ln", ["-s", outside, join(root, "d")]);
    await run("true", { staged: stagedAfter(effects) });
    expect(readFileSync(join(outside, "x"), "utf8")).toBe("precious");
  });

  it("shows the disk as it is now, not as a former command found it", async () => {
    const { root, run } = await createRig({ a: "1\n", "d/b": "2\n" });
    await run("touch a d/b; chmod 700 d; chmod 755 d");
    writeFileSync(join(root, "a"), "edited\n");
    chmodSync(join(root, "d"), 0o711);
    expect(await run("cat a")).toMatchObject({ effects: [], output: "edited\n" });
  });

  it("changes nothing on the disk, not even times", async () => {
    const { root, run } = await createRig({ a: "1", "d/b": "2", "d/e/c": "3" });
    const marks = () =>
      ["", "a", "d", "d/b", "d/e", "d/e/c"].map((name) => {
        const { ino, mtimeNs, ctimeNs, mode, nlink } = lstatSync(join(root, name), { bigint: true });
        return [name, ino, mtimeNs, ctimeNs, mode, nlink];
      });
    const before = marks();
    const { effects } = await run("echo x > a; rm d/b; rm -r d/e; chmod 700 d; mkdir n; touch n/f");
    await run("ls", { staged: stagedAfter(effects) });
    await run("rm -rf ./* .[a-z]*");
    expect(marks()).toEqual(before);
  });

  describe("a person meanwhile", () => {
    const stale = ({ effects }: Pick<Effects, "effects">, root: string) =>
      effects.filter(({ changedMeanwhile }) => changedMeanwhile).map(({ path }) => path.slice(root.length + 1));

    it("V-11: edits, deletes or replaces what the command changes", async () => {
      const { root, run } = await createRig({ a: "1", b: "2", c: "3", "d/x": "4", e: "5", f: "6" });
      const found = await run("for i in a b c d/x e f; do echo x >> $i; done; rm e", {
        during() {
          writeFileSync(join(root, "a"), "mine");
          rmSync(join(root, "b"));
          rmSync(join(root, "c"));
          mkdirSync(join(root, "c"));
          writeFileSync(join(root, "e"), "mine too");
        },
      });
      // `b` is gone, so the directory tells; `d/x` and `f` were left alone.
      expect(stale(found, root)).toEqual(["a", "b", "c", "e"]);
      const before = (name: string) => found.effects.find(({ path }) => path === join(root, name))?.before;
      const saw = [..."123 5"].flatMap((text) => (text === " " ? [] : [{ bytes: Buffer.from(text) }]));
      expect(["a", "b", "c", "e"].map(before)).toMatchObject(saw);
    });

    it("does so before galley has seen what the command found: that is not guessed", async () => {
      const { root, run } = await createRig({ a: "1", e: "5" });
      const found = await run("echo x >> a; rm e", {
        atOnce() {
          writeFileSync(join(root, "a"), "mine");
          writeFileSync(join(root, "e"), "mine too");
        },
      });
      expect(found.effects.map(({ before, changedMeanwhile }) => [before, changedMeanwhile])).toEqual([
        [undefined, "unknown"],
        [undefined, "unknown"],
      ]);
    });

    it("deletes what the command deletes, or writes what it writes: nothing is left to do", async () => {
      const { root, run } = await createRig({ a: "1", b: "2" });
      const found = await run("printf 2 > a; rm b", {
        during() {
          writeFileSync(join(root, "a"), "2");
          rmSync(join(root, "b"));
        },
      });
      expect(found.effects).toEqual([]);
    });

    it("makes a file where the command makes one, or beside it", async () => {
      const { root, run } = await createRig({ "d/x": "1", "e/x": "2" });
      const found = await run("echo new > d/new; echo new > d/sub; echo new > e/new", {
        during: () => writeFileSync(join(root, "d/new"), "mine"),
      });
      expect(stale(found, root)).toEqual(["d/new", "d/sub"]);
    });

    it("does not lose a file that the kernel had no name of yet", async () => {
      const { root, run } = await createRig({ "d/x": "1", "d/y": "2" });
      const found = await run("ls d; echo z > d/z", { during: () => writeFileSync(join(root, "d/mine"), "mine") });
      expect(shortForm(found, root)).toEqual(["A d/z"]);
    });

    it("edits before the command: that is what the command finds", async () => {
      const { root, run } = await createRig({ a: "1" });
      writeFileSync(join(root, "a"), "mine\n");
      utimesSync(join(root, "a"), 1, 1);
      await waitForNextTick(root);
      const found = await run("echo more >> a");
      expect(stale(found, root)).toEqual([]);
      expect(found.effects).toMatchObject([{ after: { bytes: Buffer.from("mine\nmore\n") } }]);
    });
  });
});

/** The clock of the file system goes in steps of a few milliseconds. */
async function waitForNextTick(root: string): Promise<void> {
  const probe = join(root, "..", "tick");
  const time = () => {
    writeFileSync(probe, "x");
    return lstatSync(probe, { bigint: true }).ctimeNs;
  };
  const first = time();
  while (time() === first) await new Promise((resolve) => setImmediate(resolve));
}
