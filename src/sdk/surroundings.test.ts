import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { silentLog } from "../base/log.js";
import { Settings } from "../config/settings/settings.js";
import { findProject } from "../files/paths/find-roots.js";
import { createNodeProcesses } from "../processes/node-processes.js";
import type { Processes } from "../processes/processes.js";
import type { SandboxState } from "../protocol/data.js";
import { manualClock } from "../testing/manual-clock.js";
import { openSession } from "../testing/open-session.js";
import { say } from "../testing/scripted-model.js";
import { createSurroundings } from "./surroundings.js";

const env = { PATH: process.env.PATH, HOME: "/nowhere" };

function git(cwd: string, ...args: string[]): void {
  const who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=trunk"];
  execFileSync("git", [...who, ...args], { cwd, env: { ...env, GIT_CONFIG_GLOBAL: "/dev/null" } as never });
}

function repository(): string {
  const root = join(temporaryDirectory(), "repo");
  mkdirSync(join(root, "src"), { recursive: true });
  writeFileSync(join(root, "src/a.txt"), "one\n");
  git(root, "init", "-q");
  git(root, "add", ".");
  git(root, "commit", "-qm", "first");
  return root;
}

function realProcesses(): Processes {
  const processes = createNodeProcesses({ env, log: silentLog });
  onTestFinished(() => processes.shutdown());
  return processes;
}

function around(
  cwd: string,
  {
    processes = realProcesses(),
    staging = "auto",
    clock = manualClock(),
    sandbox = {},
  }: {
    processes?: Processes;
    staging?: "auto" | "all";
    clock?: ReturnType<typeof manualClock>;
    sandbox?: Partial<SandboxState>;
  } = {},
) {
  const project = findProject({ cwd, home: "/nowhere" });
  const state: SandboxState = {
    ...{ mode: "off", mechanism: "none", network: "on", stage: { mechanism: "overlay" } },
    ...sandbox,
  };
  return createSurroundings({
    ...{ cwd, project, settings: new Settings(), clock, path: env.PATH, processes },
    ...{ access: { staging }, sandbox: { state } },
  });
}

describe("the surroundings", () => {
  it("are date, platform, shell, staging, root and directory; and git, once it was asked", async () => {
    const root = repository();
    const it = around(join(root, "src"));
    const without = it.text().split("\n");
    expect(without).toEqual([
      expect.stringMatching(/^Date: 2026-01-0[456]$/),
      expect.stringMatching(new RegExp(`^Platform: ${process.platform} \\w+, shell (ba)?sh$`)),
      "No sandbox. Staging auto: previews wait to be applied; other tools write at once.",
      `Working directory: ${join(root, "src")}`,
      `Project root: ${root}`,
    ]);
    await it.learn();
    expect(it.learn()).toBeUndefined();
    expect(it.text().split("\n")).toEqual(without.toSpliced(2, 0, "Git: branch trunk, no uncommitted changes"));
  });

  it("tell where commands may write and what they reach", () => {
    const said = (sandbox: Partial<SandboxState>, staging: "auto" | "all" = "auto") =>
      around("/tmp", { sandbox, staging })
        .text()
        .split("\n")
        .find((line) => /sandbox/i.test(line));
    const rest = "Staging auto: previews wait to be applied; other tools write at once.";
    const bubblewrap = { mechanism: "bubblewrap" };
    expect(said({ mode: "workspace", ...bubblewrap, network: "off" })).toBe(
      `Sandbox: the project is writable, no network. ${rest}`,
    );
    expect(said({ mode: "workspace", ...bubblewrap, network: "hosts" })).toContain("network by allow list");
    expect(said({ mode: "workspace" })).toBe(`No sandbox: commands are refused. ${rest}`);
    const readOnly = said({ mode: "read-only", ...bubblewrap, network: "off" }, "all");
    expect(readOnly).toBe(
      "Sandbox: read-only, no network. Staging all: every file change is a preview that waits for review.",
    );
    const none = { mechanism: "none", reason: "none" } as const;
    expect(said({ stage: none }, "all")).not.toContain("commands");
  });

  it("tell of uncommitted changes and of staging, and are less than 600 bytes for any path", async () => {
    const root = repository();
    appendFileSync(join(root, "src/a.txt"), "two\n");
    const dirty = around(root, { staging: "all" });
    await dirty.learn();
    expect(dirty.text()).toContain("\nGit: branch trunk, uncommitted changes\n");
    expect(dirty.text()).toContain(`\nWorking directory: ${root}, the project root`);
    expect(dirty.text()).toContain(
      "Staging all: every file change, also of commands, is a preview that waits for review.",
    );
    const deep = join(root, ...Array.from({ length: 18 }, () => "é".repeat(100)));
    mkdirSync(deep, { recursive: true });
    const long = around(deep, { staging: "all" });
    await long.learn();
    expect(Buffer.byteLength(long.text())).toBeLessThan(600);
    expect(long.text()).toMatch(/\nWorking directory: .+…é+\nProject root: .+$/);
  });

  it("wait 300 ms for git and no longer", async () => {
    const clock = manualClock();
    let signal: AbortSignal | undefined;
    const processes: Processes = {
      run: (request) => {
        signal = request.signal;
        return new Promise(() => {});
      },
      shutdown: async () => {},
    };
    const it = around(repository(), { processes, clock });
    const learned = it.learn();
    await new Promise(setImmediate);
    clock.advance(299);
    expect(signal?.aborted).toBe(false);
    clock.advance(1);
    await learned;
    expect(signal?.aborted).toBe(true);
    expect(it.text()).toContain("\nGit: branch trunk\n");
  });

  it("T-11: start nothing that the project names: git is not asked where its configuration could", async () => {
    const root = repository();
    const marker = join(root, "started");
    writeFileSync(join(root, "evil.sh"), `#!/bin/sh\ntouch ${marker}\ncat\n`, { mode: 0o755 });
    writeFileSync(join(root, ".gitattributes"), "* filter=x\n");
    appendFileSync(join(root, ".git/config"), `[filter "x"]\n\tclean = ${root}/evil.sh\n`);
    writeFileSync(join(root, "src/a.txt"), "two\n"); // as long as before: git has to compare what is in it
    const it = around(root);
    await it.learn();
    expect(it.text()).toContain("\nGit: branch trunk\n");
    expect(existsSync(marker)).toBe(false);
    git(root, "status"); // the trap works
    expect(existsSync(marker)).toBe(true);
  });
});

it("a session tells its model from the first request on, and asks git once", async () => {
  const cwd = repository();
  const real = realProcesses();
  let runs = 0;
  const processes: Processes = {
    run: (request) => {
      runs++;
      return real.run(request);
    },
    shutdown: () => real.shutdown(),
  };
  const agentDir = join(temporaryDirectory(), "agent");
  const { session, model } = await openSession({
    model: [say("One."), say("Two.")],
    onDisk: true,
    session: { cwd, agentDir, processes, env },
  });
  expect(session.systemPrompt).not.toContain("Git:");
  expect(runs).toBe(0);
  await session.prompt("hi");
  await session.prompt("again");
  expect(runs).toBe(1);
  for (const { context } of model.requests)
    expect(context.systemPrompt).toContain("\nGit: branch trunk, no uncommitted");
  expect(session.systemPrompt).toBe(model.requests[0]?.context.systemPrompt);
  await session.dispose();
});
