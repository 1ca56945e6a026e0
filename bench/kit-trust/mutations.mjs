// F-11: a project that is trusted, changed in one small way at a time. After each change it must be undecided, and
// after the change is taken back it must be trusted as before. Where the change only takes something away that nothing
// else loads, the rest is what was trusted, and must stay so.

import {
  chmodSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { randomFrom } from "../kit-session/random.mjs";
import { makePlace, writeBelow } from "./place.mjs";

const servers = {
  db: { command: "npx", args: ["-y", "db-server", "--port", "5"], env: { LEVEL: "1" } },
  web: { url: "http://localhost:1" },
};
const settings = { customTools: ["./extra/tool.ts"], shellPath: "/bin/sh" };

/** Every byte of these counts. */
const files = {
  ".galley/tools/a.ts":
    'import { b } from "../lib/b.js";\nimport data from "../lib/data.json";\nexport default () => b(data);\n',
  ".galley/tools/c/index.mjs": "export default async () => (await import('pack/deep')).default;\n",
  ".galley/lib/b.ts": 'export * from "./d";\n// it\'s used by a\n',
  ".galley/lib/d/index.js": "exports.d = require(`../../../shared/e`);\n",
  ".galley/lib/data.json": '{"a":1}\n',
  "shared/e.cjs": "module.exports = 'e';\n",
  ".claude/tools/f.js": "module.exports = () => null;\n",
  ".galley/commands/j.ts": 'import "../lib/b.js";\nexport default () => null;\n',
  ".galley/extensions/g.ts": 'import "#inside";\nexport default () => {};\n',
  "inside.js": "export {};\n",
  ".galley/hooks/pre/check.sh": "#!/bin/sh\nexit 0\n",
  "node_modules/pack/lib/deep.js": "export default 1;\n",
  "extra/tool.ts": "export default () => null;\n",
  ".mcp.json": JSON.stringify({ mcpServers: servers }),
};
/** In these, what decides about loading. */
const manifests = {
  "package.json": { name: "p", imports: { "#inside": "./inside.js" } },
  "node_modules/pack/package.json": { name: "pack", type: "module", exports: { "./deep": "./lib/deep.js" } },
};
const links = { ".codex/tools/h.js": "../../shared/e.cjs" };

export async function runMutations({ module, directory, count, seed, checkEvery = 10 }) {
  const trust = await import(pathToFileURL(module).href);
  const place = makePlace(directory);
  const random = randomFrom(seed);
  const figures = { mutations: 0, unnoticed: 0, notRestored: 0, byKind: {}, problems: [] };
  try {
    const project = writeProject(place);
    const decide = decider(trust, place, project);
    await decide.record();
    if ((await decide()) !== "trusted") throw new Error("the project is not trusted to begin with");
    for (let index = 0; index < count; index++) {
      const [kind, mutate] = random.pick(Object.entries(mutations));
      const { what, undo } = mutate(random, project);
      const expected = isOnlyLess(project, kind, what) ? "trusted" : "undecided";
      const state = await decide();
      figures.mutations++;
      figures.byKind[kind] = (figures.byKind[kind] ?? 0) + 1;
      if (state !== expected) {
        figures.unnoticed++;
        figures.problems.push(`${kind} ${what}: ${state}`);
      }
      undo();
      if (index % checkEvery === 0 && (await decide()) !== "trusted") {
        figures.notRestored++;
        figures.problems.push(`${kind} ${what}: not trusted again`);
        break; // everything after this would look noticed
      }
    }
    if ((await decide()) !== "trusted") figures.notRestored++;
  } finally {
    place.remove();
  }
  return figures;
}

/** Loaded by galley itself and by no other file. Without hooks: whatever the name of a file there, it is one. */
const entries = Object.keys(files).filter((name) =>
  /^\.galley\/(?:tools|commands|extensions)\/|^\.claude|^extra/.test(name),
);

function isOnlyLess({ repo }, kind, what) {
  if (kind === "goes" && entries.includes(what)) return true;
  if (["goes", "byte", "length", "argv"].includes(kind) && !entries.includes(what.split(" ")[0])) {
    const now = serversIn(join(repo, ".mcp.json"));
    const isSame = ([name, server]) => JSON.stringify(server) === JSON.stringify(servers[name]);
    return Object.keys(now).length < Object.keys(servers).length && Object.entries(now).every(isSame);
  }
  return false;
}

/** A file that cannot be read names none. */
function serversIn(path) {
  try {
    const { mcpServers } = JSON.parse(readFileSync(path, "utf8"));
    return mcpServers && typeof mcpServers === "object" ? mcpServers : {};
  } catch {
    return {};
  }
}

function writeProject({ repo }) {
  writeBelow(repo, files);
  writeBelow(repo, Object.fromEntries(Object.entries(manifests).map(([name, value]) => [name, JSON.stringify(value)])));
  writeBelow(repo, Object.fromEntries(Object.entries(links).map(([name, target]) => [name, `-> ${target}`])));
  return { repo, settings: structuredClone(settings) };
}

function decider({ decideTrust, saveTrust, surveyProject, findConfigRoots, systemClock }, { repo, home }, project) {
  const configRoot = join(home, ".galley");
  const file = join(configRoot, "trust.json");
  const look = async () => {
    const { roots } = findConfigRoots({ cwd: repo, home, agentDir: join(configRoot, "agent"), configRoot });
    const explicit = project.settings.customTools.map((path) => ({ kind: "tool", path, namedBy: "project" }));
    const policy = Object.entries(project.settings).map(([key, value]) => ({
      file: join(repo, "settings"),
      key,
      value,
    }));
    return (await surveyProject({ cwd: repo, home, roots, explicit, settings: policy })).project;
  };
  const decide = async () => decideTrust({ project: await look(), file }).state;
  decide.record = async () => saveTrust(await look(), "trusted", { file, clock: systemClock });
  return decide;
}

const mutations = {
  byte(random, { repo }) {
    const name = random.pick(Object.keys(files));
    const path = join(repo, name);
    const bytes = readFileSync(path);
    const at = random.below(bytes.length);
    const changed = Buffer.from(bytes);
    changed[at] ^= 1 + random.below(255);
    return replaced(path, changed, `${name} at ${at}`);
  },
  length(random, { repo }) {
    const name = random.pick(Object.keys(files));
    const path = join(repo, name);
    const bytes = readFileSync(path);
    const at = random.below(bytes.length);
    const isCut = random.below(2) === 0;
    const changed = isCut
      ? bytes.subarray(0, at)
      : Buffer.concat([bytes.subarray(0, at), Buffer.from("x"), bytes.subarray(at)]);
    return replaced(path, changed, `${name} ${isCut ? "cut" : "grown"} at ${at}`);
  },
  mode(random, { repo }) {
    const name = random.pick(Object.keys(files).filter((file) => !file.endsWith(".json") || file.includes("lib")));
    const path = join(repo, name);
    const mode = lstatSync(path).mode & 0o7777;
    chmodSync(path, mode ^ random.pick([0o001, 0o010, 0o100, 0o004, 0o040, 0o002, 0o020, 0o4000]));
    return { what: name, undo: () => chmodSync(path, mode) };
  },
  import(random, { repo }) {
    const name = random.pick(Object.keys(files).filter((file) => /\.[cm]?[jt]s$/.test(file)));
    const path = join(repo, name);
    const clause = random.pick([
      'import "./new-one";',
      'require("./new-one");',
      "import(`./new-one`);",
      'export * from "./new-one";',
    ]);
    return replaced(path, Buffer.concat([readFileSync(path), Buffer.from(clause)]), name);
  },
  appears(random, { repo }) {
    // Names that would be taken before or beside what is there.
    const name = random.pick([
      ".galley/lib/b.tsx",
      ".galley/lib/d.ts",
      ".galley/lib/d/index.ts",
      ".galley/lib/data.json.ts",
      "shared/e.ts",
      "inside.ts",
      ".galley/tools/i.ts",
      ".galley/tools/c/index.ts",
      ".galley/hooks/post/x",
      ".galley/extensions/j/index.js",
      ".galley/tools/package.json",
      ".galley/node_modules/pack/deep.js",
    ]);
    writeBelow(repo, { [name]: name.endsWith(".json") ? "{}" : "" });
    return {
      what: name,
      undo: () =>
        rmSync(join(repo, name.replace(/^(\.galley\/(?:node_modules|hooks\/post|extensions\/j))\/.*/, "$1")), {
          recursive: true,
        }),
    };
  },
  goes(random, { repo }) {
    const name = random.pick(Object.keys(files));
    const path = join(repo, name);
    renameSync(path, `${path}.away`);
    return { what: name, undo: () => renameSync(`${path}.away`, path) };
  },
  link(random, { repo }) {
    const path = join(repo, ".codex/tools/h.js");
    const target = readlinkSync(path);
    rmSync(path);
    symlinkSync(random.pick(["../../.claude/tools/f.js", "../../inside.js", "../../extra/tool.ts"]), path);
    return {
      what: path,
      undo() {
        rmSync(path);
        symlinkSync(target, path);
      },
    };
  },
  manifest(random, { repo }) {
    const name = random.pick(Object.keys(manifests));
    const change = random.pick([
      { type: "commonjs" },
      { main: "./other.js" },
      { name: "q" },
      { exports: "./x.js" },
      { imports: {} },
    ]);
    return replaced(
      join(repo, name),
      JSON.stringify({ ...manifests[name], ...change }),
      `${name} ${JSON.stringify(change)}`,
    );
  },
  argv(random, { repo }) {
    const changed = structuredClone(servers);
    const change = random.pick([
      () => (changed.db.command += "x"),
      () => changed.db.args.push("x"),
      () => changed.db.args.shift(),
      () => changed.db.args.reverse(),
      () => (changed.db.args[random.below(4)] += " "),
      () => (changed.db.env.LEVEL = "2"),
      () => (changed.db.env.NODE_OPTIONS = "--require x"),
      () => (changed.web.url += "/x"),
      () => (changed.more = { command: "x" }),
      () => delete changed.db,
    ]);
    change();
    return replaced(join(repo, ".mcp.json"), JSON.stringify({ mcpServers: changed }), JSON.stringify(changed));
  },
  setting(random, project) {
    const before = project.settings;
    project.settings = random.pick([
      { ...before, shellPath: "/tmp/sh" },
      { ...before, customTools: [...before.customTools, "./none.ts"] },
      { ...before, customTools: [] },
      { customTools: before.customTools },
      { ...before, extensions: ["x"] },
    ]);
    const what = JSON.stringify(project.settings);
    return {
      what,
      undo() {
        project.settings = before;
      },
    };
  },
};

function replaced(path, content, what) {
  const before = readFileSync(path);
  writeFileSync(path, content);
  return { what, undo: () => writeFileSync(path, before) };
}
