import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, it } from "vitest";
import { createMemoryWorkspace } from "../testing/memory-workspace.js";
import { createNodeWorkspace } from "../workspace/node-workspace.js";
import { createBuiltInTools } from "./index.js";

const noTodos = { todos: { get: () => [], applyOps: () => "" }, isPersistent: false };

it("makes the tools, which only read", () => {
  const tools = createBuiltInTools({ workspace: createMemoryWorkspace({}), ...noTodos });
  expect(tools.map(({ name, approval }) => [name, approval])).toEqual([
    ["read", "read"],
    ["ast_edit", "read"],
    ["todo_write", "read"],
  ]);
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
  expect(new Set(loaded("dynamic-import"))).toEqual(new Set(["@ast-grep/napi", "picomatch"]));
});

it("previews the example of the README", async () => {
  const cwd = fileURLToPath(new URL("../..", import.meta.url));
  const astEdit = createBuiltInTools({ workspace: createNodeWorkspace({ cwd }), ...noTodos }).find(
    ({ name }) => name === "ast_edit",
  );
  const args = { ops: [{ pat: "console.log($$$A)", out: "logger.debug($$$A)" }], paths: ["examples/hello"] };
  const result = await astEdit?.execute("call_1", args as never, undefined, () => {}, { cwd });
  expect(result?.content).toEqual([
    {
      type: "text",
      text: [
        "Preview only – files NOT modified.",
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
