import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { createViewProcesses } from "../../processes/sandbox/view-holder.js";
import { manualClock } from "../../testing/manual-clock.js";
import { cleanLayers, listLayers } from "./clean-layers.js";
import { createStageView } from "./create-stage-view.js";
import {
  copyOnly,
  createRig,
  noViews,
  pathWithMount,
  plant,
  runIn,
  shortForm,
  snapshot,
  stagedAfter,
  viewOptions,
  viewTitle,
} from "./layer.test-kit.js";
import { defaultStageLimits } from "./stage-limits.js";

describe.skipIf(noViews !== undefined)(`the view of a staged command${viewTitle}`, () => {
  it("shows the project, and leaves it alone", async () => {
    const { root, run, view } = await createRig({ "a.txt": "one\n", "d/b": "b" });
    expect(view.mechanism).toBe("overlay");
    const untouched = snapshot(root);
    const found = await run("cat a.txt; pwd; echo two >> a.txt; rm d/b");
    expect(found.output).toBe(`one\n${root}\n`);
    expect(shortForm(found, root)).toEqual(["M a.txt", "D d/b"]);
    expect(snapshot(root)).toEqual(untouched);
  });

  it("works with names that mean something to mount and to shells", async () => {
    const place = temporaryDirectory();
    const root = join(place, "a,b:c\\d 'e'$(f)\n -g");
    plant(root, { x: "1" });
    const view = await createStageView(viewOptions({ root, agentDir: join(place, "ag,ent:\\ 'x'") }));
    const open = await view.open([]);
    runIn(open, root, "echo 2 > y");
    expect(shortForm(await open.collect(), root)).toEqual(["A y"]);
    await open.release();
    await view.close();
    expect(readdirSync(root)).toEqual(["x"]);
  });

  it("has a layer for each root, but not for one that is in another", async () => {
    const place = temporaryDirectory();
    const [one, two] = [join(place, "one"), join(place, "two")];
    plant(one, { a: "1", "sub/b": "2" });
    plant(two, { c: "3" });
    const options = {
      ...viewOptions({ root: one, agentDir: join(place, "agent") }),
      roots: [one, join(one, "sub"), two],
    };
    const view = await createStageView(options);
    const open = await view.open([
      { path: join(two, "new"), state: { type: "file", bytes: Buffer.from("n"), mode: 0o600, mtimeMs: 5 } },
    ]);
    expect(runIn(open, one, `cat ${two}/new; echo x > sub/x; rm ${two}/c ${two}/new`)).toBe("n");
    const { effects } = await open.collect();
    expect(effects.map(({ path, after }) => [path, after !== undefined])).toEqual([
      [join(one, "sub/x"), true],
      [join(two, "c"), false],
      [join(two, "new"), false],
    ]);
    await open.release();
    expect((await listLayers({ agentDir: join(place, "agent"), env: {} })).map(({ root }) => root).sort()).toEqual([
      one,
      two,
    ]);
    await view.close();
    expect(readdirSync(join(place, "agent/stage"))).toEqual([]);
  });

  it("V-2: never runs on the real tree when mount only says that it worked", async () => {
    const place = temporaryDirectory();
    const root = join(place, "project");
    plant(root, { a: "1" });
    const untouched = snapshot(root);
    const lies = createViewProcesses({ env: process.env, path: pathWithMount("exit 0") });
    const refusal = "Staging commands is not possible here: mount had no effect.";
    const options = viewOptions({ root, agentDir: join(place, "agent") });
    await expect(createStageView({ ...options, ...lies })).rejects.toMatchObject({
      code: "unsupported",
      message: refusal,
    });
    // Also where it lies only later.
    let isLying = false;
    const view = await createStageView({
      ...options,
      startHolder: (request) => (isLying ? lies : createViewProcesses({ env: process.env })).startHolder(request),
    });
    isLying = true;
    await expect(view.open([{ path: join(root, "a"), state: undefined }])).rejects.toMatchObject({ message: refusal });
    await view.close();
    expect(snapshot(root)).toEqual(untouched);
  });

  it("says why where there are no user namespaces", async () => {
    const place = temporaryDirectory();
    plant(join(place, "project"), { a: "1" });
    const bin = join(place, "bin");
    mkdirSync(bin);
    writeFileSync(
      join(bin, "unshare"),
      "#!/bin/sh\necho 'unshare: unshare failed: Operation not permitted' >&2; exit 1\n",
      { mode: 0o755 },
    );
    const programs = createViewProcesses({ env: process.env, path: `${bin}:/usr/bin:/bin` });
    const options = viewOptions({ root: join(place, "project"), agentDir: join(place, "agent") });
    await expect(createStageView({ ...options, ...programs })).rejects.toMatchObject({
      code: "unsupported",
      message:
        "Staging commands is not possible here: User namespaces are not allowed here (container or kernel setting).",
      details: { reason: "User namespaces are not allowed here (container or kernel setting)." },
    });
  });

  it("uses another place where the agent directory cannot hold the layer", async () => {
    const place = temporaryDirectory();
    const root = join(place, "project");
    plant(root, { a: "1" });
    const runtime = join(place, "runtime");
    mkdirSync(runtime, { mode: 0o700 });
    // In the project itself: a layer cannot lie in what it is a layer of.
    const options = { ...viewOptions({ root, agentDir: join(root, ".agent") }), env: { XDG_RUNTIME_DIR: runtime } };
    const view = await createStageView(options);
    expect((await listLayers(options)).map(({ path }) => path.startsWith(join(runtime, "galley-stage/")))).toEqual([
      true,
    ]);
    const open = await view.open([]);
    runIn(open, root, "echo 2 > b");
    expect(shortForm(await open.collect(), root)).toEqual(["A b"]);
    await open.release();
    await view.close();
    expect(readdirSync(root)).toEqual(["a"]);
  });

  it("copies a small project where no overlay can be mounted", async () => {
    const { root, run, view } = await createRig(
      { a: "1\n", "d/b": "2", l: "-> a", ".gitignore": "*.log\n" },
      copyOnly(),
    );
    expect(view.mechanism).toBe("copy");
    const untouched = snapshot(root);
    const found = await run("cat a; echo x > new; rm -r d; echo more >> l; echo log > x.log; touch .gitignore");
    expect(shortForm(found, root)).toEqual(["M a", "D d directory", "D d/b", "A new"]);
    expect(found).toMatchObject({ kept: { files: 1, bytes: 4 }, output: "1\n" });
    const next = await run("cat a x.log; ls", { staged: stagedAfter(found.effects) });
    expect(next).toMatchObject({ effects: [], kept: { files: 1 }, output: "1\nmore\nlog\na\nl\nnew\nx.log\n" });
    expect(snapshot(root)).toEqual(untouched);
  });

  it("takes the disk's changes for the person's, not the command's, in a copy too", async () => {
    const { root, run } = await createRig({ a: "1", b: "2" }, copyOnly());
    const found = await run("echo x > b", { during: () => writeFileSync(join(root, "a"), "mine") });
    expect(shortForm(found, root)).toEqual(["M b"]);
  });

  it("does not copy a large project", async () => {
    const place = temporaryDirectory();
    const root = join(place, "project");
    plant(root, Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`f${index}`, "x"])));
    const limits = { ...defaultStageLimits, copyMaxFiles: 10 };
    const options = { ...viewOptions({ root, agentDir: join(place, "agent") }), ...copyOnly(), limits };
    await expect(createStageView(options)).rejects.toMatchObject({
      message:
        "Staging commands is not possible here: No overlay can be mounted, and the project is too large to be copied (more than 10 files, 512 MiB).",
    });
    expect(await listLayers(options)).toEqual([]);
  });

  it("lets one command in after the other", async () => {
    const { root, view } = await createRig({ a: "1" });
    const first = await view.open([]);
    let isSecondIn = false;
    const second = view.open([]).then((open) => {
      isSecondIn = true;
      return open;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isSecondIn).toBe(false);
    await first.release();
    await (await second).release();
    await expect(first.collect()).rejects.toMatchObject({ message: "The staged view is gone." });
    expect(snapshot(root)).toMatchObject({ a: "644 1" });
  });

  it("stops a command whose layer grows beyond its limit, and drops what it did", async () => {
    const clock = manualClock();
    const limits = { ...defaultStageLimits, maxLayerBytes: 2 ** 20 };
    const { root, view } = await createRig({ a: "1" }, { limits, clock });
    const open = await view.open([]);
    const overflown = new Promise((resolve) => open.overflow.addEventListener("abort", resolve));
    runIn(open, root, "truncate -s 3M hole");
    clock.advance(1000);
    runIn(open, root, "head -c 2000000 /dev/zero > big");
    while (!open.overflow.aborted) {
      clock.advance(1000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await overflown;
    const sentence = "The command wrote more than can be staged (1 MiB). It was stopped, and its effects were dropped.";
    expect(open.overflow.reason).toMatchObject({ message: sentence });
    expect(await open.collect()).toMatchObject({ effects: [], dropped: { limit: { bytes: 2 ** 20 }, text: sentence } });
    await open.release();
    const next = await view.open([]);
    expect(runIn(next, root, "ls")).toBe("a\n");
    await next.release();
  });

  describe("a hostile command", () => {
    it("cannot make galley move or write through a link that it left in the layer", async () => {
      const { root, run, view } = await createRig({ ".gitignore": "/a\n!/a/\nkept/\n", x: "1" });
      const outside = join(root, "..", "outside");
      plant(outside, { "b/precious": "1", precious: "2" });
      const first = await run("mkdir -p a/b kept; echo evil > a/b/evil; echo k > kept/precious");
      expect(shortForm(first, root)).toEqual(["A a/b/evil"]);
      expect(view.keptPaths()).toEqual([join(root, "kept/precious")]);
      const staged = stagedAfter(first.effects);
      // The command leaves links where the directories were; nothing is collected, as after a crash.
      const open = await view.open(staged);
      runIn(open, root, `rm -r a kept; ln -s ${outside} a; ln -s ${outside} kept`);
      expect(view.keptFile(join(root, "kept/precious"))).toBeUndefined();
      await open.release();
      expect(view.keptFile(join(root, "kept/precious"))).toBeUndefined();
      await run("true", { staged });
      // Collected this time: `a` is a kept link, and the user discards the rest.
      await run(`rm -rf a; ln -s ${outside} a`, { staged });
      await run("true", { staged });
      expect(snapshot(outside)).toMatchObject({ "b/precious": "644 1", precious: "644 2" });
      expect(Object.keys(snapshot(outside))).toEqual([".", "b", "b/precious", "precious"]);
    });
  });

  describe("clean-up", () => {
    it("leaves an agent directory alone that lies where everyone may write", async () => {
      const place = temporaryDirectory("/var/tmp");
      const [root, agentDir] = [join(place, "project"), join(place, "agent")];
      plant(root, { a: "1" });
      mkdirSync(agentDir, { mode: 0o755 });
      const view = await createStageView(viewOptions({ root, agentDir }));
      await (await view.open([])).release();
      expect(readdirSync(agentDir)).toEqual(["stage"]);
      await view.close();
      expect(readdirSync(join(agentDir, "stage"))).toEqual([]);
    });

    it("removes the layer with the session, unless something is pending", async () => {
      const { agentDir, run, view } = await createRig({ a: "1" });
      await run("mkdir -p x/y; chmod 000 x");
      await view.close();
      expect(readdirSync(join(agentDir, "stage"))).toEqual([]);
      let isPending = true;
      const other = await createRig({ a: "1", ".gitignore": "kept\n" }, { hasPending: () => isPending });
      await other.run("echo 1 > kept; echo 2 > b");
      await other.view.close();
      // Other tests may have views in places that all share.
      const places = { agentDir: other.agentDir, env: {}, roots: [other.root] };
      const listed = async () => (await listLayers(places)).filter(({ root }) => root === other.root);
      expect(await listed()).toMatchObject([{ sessionId: "session-1", isInUse: false }]);
      // What overlayfs leaves without permissions is gone: a user's own tools can remove the rest.
      expect(existsSync(join((await listed())[0]?.path ?? "", "work/work"))).toBe(false);
      // The session goes on in another process: what it kept is still there.
      const again = await createStageView({ ...viewOptions(other), hasPending: () => isPending });
      expect(again.keptPaths()).toEqual([join(other.root, "kept")]);
      expect(await listed()).toMatchObject([{ isInUse: true }]);
      expect(await cleanLayers({ ...places, hasPending: () => false })).toEqual([]);
      const open = await again.open([]);
      expect(runIn(open, other.root, "cat kept; ls")).toBe("1\na\nkept\n");
      await open.release();
      await again.close();
      expect(await cleanLayers({ ...places, hasPending: () => true })).toEqual([]);
      expect(await cleanLayers({ ...places, roots: ["/elsewhere"], hasPending: () => false })).toEqual([]);
      isPending = false;
      expect(await cleanLayers({ ...places, hasPending: () => false })).toHaveLength(1);
      expect(readdirSync(join(other.agentDir, "stage"))).toEqual([]);
    });

    it("follows no link and opens what is closed", async () => {
      const place = temporaryDirectory();
      const agentDir = join(place, "agent");
      const layer = join(agentDir, "stage", "0".repeat(32), "session-x");
      plant(layer, { "up/d/f": "1", "work/work/x": "2", "up/l": `-> ${join(place, "precious")}` });
      plant(join(place, "precious"), { p: "1" });
      symlinkSync(join(place, "precious"), join(agentDir, "stage", "0".repeat(32), "linked"));
      for (const closed of ["up/d", "work/work"]) chmodSync(join(layer, closed), 0);
      const removed = await cleanLayers({ agentDir, env: {}, hasPending: () => false });
      expect(removed.map(({ sessionId }) => sessionId)).toEqual(["session-x"]);
      expect(existsSync(layer)).toBe(false);
      expect(readFileSync(join(place, "precious/p"), "utf8")).toBe("1");
    });

    it("makes the layer private", async () => {
      const { agentDir, run } = await createRig({ a: "1" });
      await run("true");
      expect(lstatSync(join(agentDir, "stage")).mode & 0o777).toBe(0o700);
    });
  });
});
