import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, it } from "vitest";
import { createNodeWorkspace } from "../files/node-workspace.js";
import { createMemoryWorkspace } from "../testing/memory-workspace.js";
import { createBuiltInTools } from "./index.js";
import { stagingKit, toolDeps } from "./tools.test-kit.js";

it("makes the tools, each with its tier", () => {
  const parts = toolDeps(createMemoryWorkspace({}));
  const tools = createBuiltInTools(parts);
  expect(tools.map(({ name, approval }) => [name, approval])).toEqual([
    ["read", "read"],
    ["bash", "exec"],
    ["edit", "write"],
    ["write", "write"],
    ["grep", "read"],
    ["find", "read"],
    ["ls", "read"],
    ["ast_grep", "read"],
    ["ast_edit", "write"],
    ["todo_write", "read"],
    ["ask", "read"],
  ]);
  const alone = createBuiltInTools({ ...parts, dialogs: undefined });
  expect(alone.some(({ name }) => name === "ask")).toBe(false);
});

it("takes little room in every request", () => {
  const tools = createBuiltInTools({ ...toolDeps(createMemoryWorkspace({})), dialogs: undefined });
  const told = tools.map(({ name, description, published }) => ({ name, description, parameters: published }));
  expect(JSON.stringify(told).length).toBeLessThan(6600);
  const grep = tools.find(({ name }) => name === "grep");
  expect(grep?.published).toMatchObject({ properties: { pattern: { type: "string" } }, required: ["pattern"] });
  expect(JSON.stringify(told)).not.toMatch(/"(?:maxLength|maxItems)"/);
});

it("loads no library until a tool needs it", async () => {
  const { metafile } = await build({
    entryPoints: [fileURLToPath(new URL("index.ts", import.meta.url))],
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "node",
    packages: "external",
  });
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports);
  const loaded = (kind: string) => imports.filter((item) => item.kind === kind).map(({ path }) => path);
  expect(loaded("import-statement").filter((path) => !path.startsWith("node:"))).toEqual([]);
  expect(new Set(loaded("dynamic-import"))).toEqual(new Set(["diff", "node:zlib", "picomatch"]));
});

it("searches the disk with ripgrep under review too, until something is staged", async () => {
  const started: object[] = [];
  const staged: string[] = [];
  const deps = toolDeps(createNodeWorkspace({ cwd: fileURLToPath(new URL(".", import.meta.url)) }));
  const { staging } = stagingKit("all");
  const tools = createBuiltInTools({
    ...deps,
    staging: { ...staging, stagedPaths: () => staged },
    processes: {
      ...deps.processes,
      run: async (request) => {
        started.push(request.command);
        throw new Error("not started");
      },
    },
  });
  const grep = tools.find(({ name }) => name === "grep");
  const search = () =>
    grep?.execute("call_1", { pattern: "nowhere at all", path: "ast" } as never, undefined, () => {}, {
      cwd: deps.workspace.cwd,
    });
  await expect(search()).rejects.toThrow("not started");
  expect(started).toHaveLength(1);
  staged.push("/elsewhere");
  await search();
  expect(started).toHaveLength(1);
});

it("previews the example of the README", async () => {
  const cwd = fileURLToPath(new URL("../..", import.meta.url));
  const astEdit = createBuiltInTools(toolDeps(createNodeWorkspace({ cwd }))).find(({ name }) => name === "ast_edit");
  const args = { ops: [{ pat: "console.log($$$A)", out: "logger.debug($$$A)" }], paths: ["examples/hello"] };
  const result = await astEdit?.execute("call_1", args as never, undefined, () => {}, { cwd });
  expect(result?.content).toEqual([
    {
      type: "text",
      text: [
        "Staged as pa_1 – files NOT modified. Call resolve to apply or discard.",
        "",
        "# examples/hello",
        "## └─ greet.ts (2 replacements)",
        '-4:3 console.log("greeting", name)',
        '+4:3 logger.debug("greeting", name)',
        "-7:5 console.log( … (+3 lines)",
        '+7:5 logger.debug("loudly", … (+1 lines)',
        "## └─ main.ts (2 replacements)",
        '-4:25 console.log("usage: main.ts NAME...")',
        '+4:25 logger.debug("usage: main.ts NAME...")',
        "-7:3 console.log(greet(name, name === name.toUpperCase()))",
        "+7:3 logger.debug(greet(name, name === name.toUpperCase()))",
      ].join("\n"),
    },
  ]);
});
