// The package as `npm pack` makes it, unpacked beside its dependencies as an installation does: what it holds, and that
// all of it starts. Nothing here asks the network.

import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { ensureBuilt } from "../kit/rpc-host.js";
import { projectRoot, run } from "../kit/run-galley.js";
import { temporaryDirectory } from "../kit/temporary-directory.js";

interface Manifest {
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
  bin: Record<string, string>;
  exports: Record<string, string | Record<string, string>>;
}

/** A user's project, its home included, with nothing but galley installed. */
const project = temporaryDirectory();
const modules = join(project, "node_modules");
const galley = join(modules, "galley");
const bin = join(galley, "bin/galley.js");
/** Where programs are found, but no galley. */
const env = { PATH: pathWithoutGalley(), HOME: project, GALLEY_OFFLINE: "1" };
let paths: string[] = [];

const probe = spawnSync("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 9))"]);
const noPython = probe.error ? "python3 is not on the PATH" : probe.status === 0 ? "" : "python3 is older than 3.9";
if (noPython) console.log(`Skipped: the Python client of the package, because ${noPython}.`);

beforeAll(async () => {
  await ensureBuilt();
  const options = ["--ignore-scripts", "--offline", "--silent", "--no-update-notifier", "--pack-destination", project];
  // npm would leave files in the home, and on Node 22 and later beside the temporary files.
  const env = { ...process.env, npm_config_cache: join(project, "npm"), NODE_DISABLE_COMPILE_CACHE: "1" };
  const archive = execFileSync("npm", ["pack", ...options], { cwd: projectRoot, env, encoding: "utf8" }).trim();
  mkdirSync(modules);
  execFileSync("tar", ["-xzf", archive], { cwd: project });
  renameSync(join(project, "package"), galley);
  const { dependencies, optionalDependencies } = manifest();
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const installed = join(projectRoot, "node_modules", name);
    if (!existsSync(installed)) continue; // an optional one, on a platform that it does not support
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(installed, join(modules, name));
  }
  paths = readdirSync(galley, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(galley.length + 1))
    .sort();
  const bytes = paths.reduce((sum, path) => sum + statSync(join(galley, path)).size, 0);
  console.log(
    `The package: ${kib(statSync(join(project, archive)).size)} packed, ${kib(bytes)} in ${paths.length} files.`,
  );
  writeFileSync(join(project, "notes.txt"), "Buy ink.\n");
}, 150_000);

describe("the package", () => {
  it("holds what its users need and nothing else", () => {
    const allowed = [
      /^(package\.json|README\.md|CHANGELOG\.md|SECURITY\.md|LICENSE)$/,
      /^bin\/(galley\.js|package\.json)$/,
      /^dist\/(LICENSES\.txt|[\w.-]+\.(js|json))$/,
      /^dist\/(chunks|cli|types)\//,
      /^dist\/catalog\/(LICENSE|[\w-]+\.json)$/,
      /^docs\/[\w-]+\.md$/,
      /^examples\/([\w-]+\/)?[\w.-]+\.(md|mjs|ts|py|sh|yml)$/,
      /^clients\/python\/(README\.md|pyproject\.toml|galley_rpc\/(\w+\.py|py\.typed))$/,
    ];
    expect(paths.filter((path) => !allowed.some((pattern) => pattern.test(path)))).toEqual([]);
    const unwanted =
      /^(?!examples\/).*\.test\.|\.test-kit\.|\.map$|\.pyc$|^dist\/types\/(cli|rpc)\/|^dist\/types\/.*(?<!\.d)\.m?ts$/;
    expect(paths.filter((path) => unwanted.test(path))).toEqual([]);
  });

  it("holds every file that its package.json names", () => {
    const { bin: programs, exports } = manifest();
    const targets = [...Object.values(programs), ...Object.values(exports).flatMap(targetsOf)];
    expect(targets.filter((path) => !existsSync(join(galley, path)))).toEqual([]);
  });

  it("starts no program when it is installed: a checkout is built by a script that npm runs in it alone", () => {
    const { scripts } = manifest();
    const atInstall = ["preinstall", "install", "postinstall", "preprepare", "prepare", "postprepare", "prepublish"];
    expect(Object.keys(scripts).filter((name) => atInstall.includes(name))).toEqual([]);
    expect([scripts.dependencies, scripts.prepack]).toEqual([scripts.build, scripts.build]);
  });

  it("holds the licence of every library that is bundled", () => {
    const text = readFileSync(join(galley, "dist/LICENSES.txt"), "utf8");
    const named = [...text.matchAll(/^==== (\S+) /gm)].map(([, name]) => name);
    expect(named).toEqual([...named].sort());
    expect(named).toEqual(
      expect.arrayContaining(["@sinclair/typebox", "diff", "linkify-it", "markdown-it", "typebox", "yaml", "zod"]),
    );
    expect(named.filter((name) => name && name in manifest().dependencies)).toEqual([]);
  });

  it("stays small enough to install in a moment", () => {
    const archives = readdirSync(project).filter((name) => name.endsWith(".tgz"));
    expect(archives.map((name) => statSync(join(project, name)).size < 4 * 1024 * 1024)).toEqual([true]);
  });
});

describe("what it starts", () => {
  it("galley --version", async () => {
    const { version } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8")) as { version: string };
    expect(await start("--version")).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  });

  it("galley -p help, and a search with the grammar that is a dependency", async () => {
    const help = await start("-p", "help");
    expect([help.code, help.stdout]).toEqual([
      0,
      expect.stringMatching(/^I am galley's planner, not a language model\./),
    ]);
    writeFileSync(join(project, "a.js"), "log(1);\nlog(2);\n");
    const found = await start("-p", "find log($A) in a.js");
    expect([found.code, found.stdout.match(/log\(\d\)/g)]).toEqual([0, ["log(1)", "log(2)"]]);
  });

  it("a program that imports each of its doors", async () => {
    writeFileSync(
      join(project, "program.mjs"),
      `import { createAgentSession } from "galley";
import { RpcClient } from "galley/client";
import { UserMessage } from "galley/protocol";
import { say, scriptedModel, scriptedProviderModel } from "galley/testing";
const model = scriptedModel([say("Hello.")]);
const { session } = await createAgentSession({ model: scriptedProviderModel, streamFn: model.stream });
await session.prompt("Hi");
console.log(session.getLastAssistantText(), typeof RpcClient, typeof UserMessage);
await session.dispose();
`,
    );
    const outcome = await run(process.execPath, ["program.mjs"], { env, cwd: project });
    expect(outcome).toEqual({ code: 0, stdout: "Hello. function object\n", stderr: "" });
  });

  it("a session with a key, by the model table that comes along: the program and the library", async () => {
    const keyed = { ...env, ANTHROPIC_API_KEY: "k" };
    const listed = await run(process.execPath, [bin, "--list-models", "claude-sonnet-5"], { env: keyed, cwd: project });
    expect(listed.stdout).toContain("anthropic/claude-sonnet-5 ");
    const text = `import { createAgentSession } from "galley";
const { session } = await createAgentSession();
console.log(session.model.id);
await session.dispose();
`;
    writeFileSync(join(project, "keyed.mjs"), text);
    const outcome = await run(process.execPath, ["keyed.mjs"], { env: keyed, cwd: project });
    expect(outcome).toEqual({ code: 0, stdout: "claude-sonnet-5\n", stderr: "" });
  });

  it("its example of a host, with plain node", async () => {
    const host = join(galley, "examples/hosts/host.mjs");
    const { code, stdout, stderr } = await run(process.execPath, [host], {
      env,
      cwd: project,
      input: "show notes.txt\n\n",
    });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("Buy ink.");
  });

  it.skipIf(noPython !== "")(
    `a Python program, with nothing but PYTHONPATH set${noPython && ` (skipped: ${noPython})`}`,
    async () => {
      const program = [
        "from galley_rpc import RpcClient",
        "with RpcClient() as client:",
        '    print(client.prompt_and_wait("show notes.txt").text)',
      ].join("\n");
      const PYTHONPATH = "node_modules/galley/clients/python";
      const outcome = await run("python3", ["-c", program], {
        env: { ...env, PYTHONPATH, PYTHONDONTWRITEBYTECODE: "1" },
        cwd: project,
      });
      expect(outcome).toEqual({ code: 0, stdout: "Buy ink.\n", stderr: "" });
    },
  );
});

function manifest(): Manifest {
  return JSON.parse(readFileSync(join(galley, "package.json"), "utf8")) as Manifest;
}

function targetsOf(target: string | Record<string, string>): string[] {
  return typeof target === "string" ? [target] : Object.values(target);
}

function start(...args: string[]) {
  return run(process.execPath, [bin, ...args], { env, cwd: project });
}

/** With this Node, which may be where a galley is. */
function pathWithoutGalley(): string {
  const own = temporaryDirectory();
  symlinkSync(process.execPath, join(own, "node"));
  const others = (process.env.PATH ?? "").split(":").filter((directory) => !existsSync(join(directory, "galley")));
  return [own, ...others].join(":");
}

function kib(bytes: number): string {
  return `${Math.round(bytes / 1024)} KiB`;
}
