import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { resourceDirectories, resourceFiles } from "./config-resources.js";
import { type ConfigRootsOptions, configRootDirectory, findConfigRoots } from "./config-roots.js";

let home: string;
beforeEach(() => {
  home = temporaryDirectory();
  make("repo/.git", "repo/sub");
});

const make = (...paths: string[]) => {
  for (const path of paths) mkdirSync(join(home, path), { recursive: true });
};
const put = (...paths: string[]) => {
  for (const path of paths) {
    make(dirname(path));
    writeFileSync(join(home, path), "throw new Error('nothing may run this');");
  }
};
const short = (path: string) => path.replace(`${home}/`, "~/");
const find = (options: Partial<ConfigRootsOptions> = {}) => {
  const configRoot = join(home, ".galley");
  return findConfigRoots({
    cwd: join(home, "repo/sub"),
    home,
    agentDir: join(configRoot, "agent"),
    configRoot,
    ...options,
  });
};
const shown = (options?: Partial<ConfigRootsOptions>) =>
  find(options).roots.map(({ priority, source, level, path }) => `${priority} ${source} ${level} ${short(path)}`);

describe("findConfigRoots", () => {
  it("finds nothing in a bare home", () => expect(shown()).toEqual([]));

  it("orders by priority, project before user, nearest first; empty directories count", () => {
    make(".galley/agent", ".xcsh/agent", ".omp/agent", ".pi/agent", ".claude", ".codex", ".gemini");
    make(
      "repo/.galley",
      "repo/.pi",
      "repo/sub/.omp",
      "repo/sub/.galley",
      "repo/.claude",
      "repo/.codex",
      "repo/.gemini",
    );
    make(".galley/plugins/node_modules/b", ".galley/plugins/node_modules/@a/x", ".omp/plugins/node_modules/c");
    expect(shown()).toEqual([
      "100 native project ~/repo/sub/.galley",
      "100 native project ~/repo/sub/.omp",
      "100 native project ~/repo/.galley",
      "100 native project ~/repo/.pi",
      "100 native user ~/.galley/agent",
      "100 native user ~/.xcsh/agent",
      "100 native user ~/.omp/agent",
      "100 native user ~/.pi/agent",
      "80 claude project ~/repo/.claude",
      "80 claude user ~/.claude",
      "70 codex project ~/repo/.codex",
      "70 codex user ~/.codex",
      "60 gemini project ~/repo/.gemini",
      "60 gemini user ~/.gemini",
      "50 plugin user ~/.galley/plugins/node_modules/@a/x",
      "50 plugin user ~/.galley/plugins/node_modules/b",
      "50 plugin user ~/.omp/plugins/node_modules/c",
    ]);
  });

  it("stops at the repository root, and takes nothing from home for a project", () => {
    make(".pi", "repo/inner/.git", "repo/.galley", ".claude");
    expect(shown({ cwd: join(home, "repo/inner") })).toEqual(["80 claude user ~/.claude"]);
    expect(shown({ cwd: home })).toEqual(["80 claude user ~/.claude"]);
  });

  it("leaves out what is switched off", () => {
    make(".claude", ".codex", "repo/.claude");
    expect(shown({ disabled: ["claude", "acme"] })).toEqual(["70 codex user ~/.codex"]);
  });

  it("drops a second name of the same directory and says so", () => {
    make("repo/.galley");
    symlinkSync(".galley", join(home, "repo/.pi"));
    expect(shown()).toEqual(["100 native project ~/repo/.galley"]);
    expect(find().duplicates).toEqual([{ path: join(home, "repo/.pi"), of: join(home, "repo/.galley") }]);
  });

  it("does not let a project pass off the user's directory as its own", () => {
    make(".galley/agent");
    symlinkSync(join(home, ".galley/agent"), join(home, "repo/.galley"));
    expect(shown()).toEqual(["100 native user ~/.galley/agent"]);
    expect(find().duplicates.map(({ path }) => short(path))).toEqual(["~/repo/.galley"]);
  });

  it("tells what it cannot use, one line each", () => {
    put("repo/.galley");
    symlinkSync("loop", join(home, "loop"));
    symlinkSync(join(home, "loop"), join(home, "repo/.pi"));
    expect(find().warnings.map((text) => text.replace(home, "~"))).toEqual([
      "~/repo/.galley: is not a directory",
      "~/repo/.pi: cannot be read (ELOOP)",
    ]);
  });
});

it("the configuration directory can be renamed, also by its older variable", () => {
  expect(configRootDirectory({}, "/h")).toBe("/h/.galley");
  expect(configRootDirectory({ GALLEY_CONFIG_DIR: ".g", PI_CONFIG_DIR: ".p" }, "/h")).toBe("/h/.g");
  expect(configRootDirectory({ PI_CONFIG_DIR: ".p" }, "/h")).toBe("/h/.p");
});

describe("resources", () => {
  it("are looked for where each kind may lie", () => {
    const kinds = ["tools", "commands", "rules", "prompts", "skills", "extensions", "hooks"] as const;
    for (const root of [".galley/agent", ".claude", ".codex", ".gemini", ".galley/plugins/node_modules/p"])
      make(...kinds.map((kind) => `${root}/${kind}`), `${root}/hooks/pre`, `${root}/hooks/post`);
    const { roots } = find();
    const found = Object.fromEntries(
      kinds.map((kind) => [kind, resourceDirectories(roots, kind).map(({ path }) => short(path).replace(/^~\//, ""))]),
    );
    const everywhere = (kind: string) =>
      [".galley/agent", ".claude", ".codex", ".gemini"].map((root) => `${root}/${kind}`);
    expect(found).toEqual({
      tools: [".galley/agent/tools", ".claude/tools", ".codex/tools"],
      commands: everywhere("commands"),
      rules: everywhere("rules"),
      prompts: everywhere("prompts"),
      skills: everywhere("skills"),
      extensions: [".galley/agent/extensions"],
      hooks: [".galley/agent/hooks", ".galley/agent/hooks/pre", ".galley/agent/hooks/post"],
    });
  });

  it("count once, and as the user's where both point there", () => {
    make(".galley/agent/rules", "repo/.galley", "repo/.pi/rules");
    symlinkSync(join(home, ".galley/agent/rules"), join(home, "repo/.galley/rules"));
    const found = resourceDirectories(find().roots, "rules");
    expect(found.map(({ path, level }) => `${level} ${short(path)}`)).toEqual([
      "project ~/repo/.pi/rules",
      "user ~/.galley/agent/rules",
    ]);
  });

  const files = (kind: Parameters<typeof resourceFiles>[1]) =>
    resourceFiles(find().roots, kind).map(
      ({ path, shadowedBy }) => short(path) + (shadowedBy === undefined ? "" : ` hidden by ${short(shadowedBy)}`),
    );

  it("of the same key: the first wins", () => {
    put("repo/.galley/rules/a.md", ".galley/agent/rules/a.mdc", ".claude/rules/b.md", ".claude/rules/notes.txt");
    expect(files("rules")).toEqual([
      "~/repo/.galley/rules/a.md",
      "~/.galley/agent/rules/a.mdc hidden by ~/repo/.galley/rules/a.md",
      "~/.claude/rules/b.md",
    ]);
    put("repo/.galley/skills/deploy/SKILL.md", ".claude/skills/deploy/SKILL.md", ".claude/skills/loose.md");
    expect(files("skills")).toEqual([
      "~/repo/.galley/skills/deploy",
      "~/.claude/skills/deploy hidden by ~/repo/.galley/skills/deploy",
    ]);
  });

  it("that are modules go by file name, and metadata hides nothing", () => {
    put("repo/.galley/tools/foo.json", ".galley/agent/tools/foo.ts", ".galley/agent/tools/bar/index.ts");
    put(
      ".galley/agent/tools/x.d.ts",
      ".galley/agent/tools/x.test.ts",
      ".galley/agent/tools/run.sh",
      ".claude/tools/foo.ts",
    );
    expect(files("tools")).toEqual([
      "~/.galley/agent/tools/bar",
      "~/.galley/agent/tools/foo.ts",
      "~/.claude/tools/foo.ts hidden by ~/.galley/agent/tools/foo.ts",
    ]);
    put(".galley/agent/hooks/pre/check", ".galley/agent/hooks/post/check");
    expect(files("hooks")).toEqual(["~/.galley/agent/hooks/pre/check", "~/.galley/agent/hooks/post/check"]);
  });
});
