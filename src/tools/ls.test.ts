import { expect, it } from "vitest";
import { createMemoryWorkspace } from "../testing/memory-workspace.js";
import { createLs } from "./ls.js";

const files = { "b.ts": "", "A.ts": "", ".env": "", "lib/x": "", "empty/": "", "odd\n\u001b[31m": "" };

async function ls(args: { path?: string; limit?: number }, signal?: AbortSignal) {
  return createLs(createMemoryWorkspace(files)).execute("call_1", args, signal, () => {}, { cwd: "/project" });
}

it("lists names without regard to case, hidden ones too, directories with a slash", async () => {
  const lines = [".env", "A.ts", "b.ts", "empty/", "lib/", "odd\\n\\u001b[31m"];
  expect(await ls({})).toEqual({ content: [{ type: "text", text: lines.join("\n") }], details: { meta: {} } });
  expect(await ls({ path: "lib" })).toMatchObject({ content: [{ text: "x" }] });
});

it("warns of an empty directory", async () => {
  expect(await ls({ path: "empty" })).toMatchObject({ content: [{ text: "(empty directory)" }], isWarning: true });
});

it("stops at the limit and says so", async () => {
  expect(await ls({ limit: 2 })).toEqual({
    content: [{ type: "text", text: ".env\nA.ts\n\n[2 results limit reached. Use limit=4 for more]" }],
    details: { meta: { limits: { resultLimit: 2 } } },
  });
  expect(await ls({ limit: 6 })).toMatchObject({ details: { meta: {} } });
});

it.each([
  [{ path: "none" }, "Path not found: none"],
  [{ path: "b.ts" }, "Not a directory: b.ts"],
  [{ path: "/home/other" }, "another user's home"],
  [{ limit: 0 }, "Limit must be a positive number"],
  [{ limit: Number.NaN }, "Limit must be a positive number"],
])("refuses %j", async (args, problem) => {
  await expect(ls(args)).rejects.toThrow(problem);
});

it("stops when asked", async () => {
  await expect(ls({}, AbortSignal.abort())).rejects.toThrow("Operation aborted");
});
