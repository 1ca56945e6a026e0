// What docs/testing.md shows is what happens, and it names everything that `galley/testing` exports.

import { beforeAll, describe, expect, it } from "vitest";
import * as testing from "../../src/testing/index.js";
import { namesInTables, pageExamples, readPage, runExample } from "../kit/page-examples.js";
import { ensureBuilt } from "../kit/rpc-host.js";

beforeAll(ensureBuilt, 150_000);

const page = readPage("docs/testing.md");
const examples = pageExamples(page);

describe("docs/testing.md", () => {
  it.for(examples)("example $title", async (example) => {
    const outcome = await runExample(example, { "notes.txt": "Buy ink.\n" });
    expect(outcome).toEqual({ code: 0, stdout: example.output, stderr: "" });
  });

  it("has examples, which typed-blocks.test.ts compiles", () => {
    expect(examples.length).toBeGreaterThan(6);
  });

  it("names every export once, and no other", () => {
    expect(namesInTables(page, "Everything it exports").sort()).toEqual(Object.keys(testing).sort());
  });
});
