// What a user reads about a module that does not load.

import { afterEach, beforeEach, expect, it } from "vitest";
import { type ToolModules, toolModules } from "../../../test/kit/tool-modules.js";
import { missingBuiltIn } from "./load-failure.js";

let modules: ToolModules;
beforeEach(() => {
  modules = toolModules();
});
afterEach(() => modules.remove());

const failureOf = async (text: string, more: Record<string, string> = {}) => {
  modules.write({ "a.ts": text, ...more });
  const { errors } = await modules.load(["a.ts"]);
  return errors[0]?.error.replace("Failed to load tool: ", "").replaceAll(modules.directory, ".");
};

it("names the nearest of what is missing", async () => {
  const imported =
    'import { truncateHed } from "@earendil-works/pi-coding-agent"; export default () => truncateHed("x");';
  expect(await failureOf(imported)).toBe('truncateHed is not a function; did you mean "truncateHead"?');
  expect(await failureOf('import "@earendil-works/pi-coding-agnt"; export default () => [];')).toBe(
    'Cannot find module "@earendil-works/pi-coding-agnt" imported from ./a.ts; did you mean "@earendil-works/pi-coding-agent"?',
  );
  expect(await failureOf("export default () => { undefined.x; };")).toMatch(/^Cannot read properties of undefined/);
});

it("names the package and the line where it happened", async () => {
  const files = {
    "node_modules/pi-x/package.json": '{"name":"pi-x","main":"main.ts"}',
    "node_modules/pi-x/lib.ts":
      "\n\nexport function start(what: string): never {\n  throw new Error(`no ${what}`);\n}\n",
    "node_modules/pi-x/main.ts": 'import { start } from "./lib.js";\nexport default () => start("port");\n',
  };
  modules.write(files);
  const { errors } = await modules.load(["node_modules/pi-x/main.ts"]);
  expect(errors[0]?.error).toBe("Failed to load tool: no port (pi-x, lib.ts:4)");
});

it("names the Node that has a built-in module", async () => {
  expect(missingBuiltIn("node:sqlite", "20.20.2").message).toBe("node:sqlite needs Node 22; this is 20.20");
  const [major, minor] = process.versions.node.split(".");
  expect(await failureOf('import "node:filesystem"; export default () => [];')).toBe(
    `Node ${major}.${minor} has no built-in module node:filesystem`,
  );
});
