// The Python client's own tests, run against this tree: its schema as it is in the source, the program as it is built.

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { commandSchemaByType } from "../../src/protocol/commands.js";
import { protocolSchema } from "../../src/protocol/schema.js";
import { ensureBuilt } from "../kit/rpc-host.js";
import { emptyHome, projectRoot, run } from "../kit/run-galley.js";
import { isLong } from "../kit/runs.js";

const { home, env, remove } = emptyHome();
const probe = spawnSync("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 9))"]);
const reason = probe.error ? "python3 is not on the PATH" : probe.status === 0 ? "" : "python3 is older than 3.9";

/** In short what needs the fewest agents; none is all of them. */
const modules = isLong ? [] : ["answers", "calls", "generated", "process", "wire"].map((name) => `tests.test_${name}`);

beforeAll(ensureBuilt, 150_000);
afterAll(remove);

it.skipIf(reason !== "")(
  `the Python client passes its tests${reason && ` (skipped: ${reason})`}`,
  async () => {
    const schema = join(home, "schema.json");
    writeFileSync(schema, JSON.stringify(protocolSchema("0.1.0")));
    const { code, stderr } = await run("python3", ["-W", "error::ResourceWarning", "-m", "unittest", ...modules], {
      env: { ...env, GALLEY_SCHEMA: schema, PYTHONDONTWRITEBYTECODE: "1" },
      cwd: join(projectRoot, "clients/python"),
    });
    expect(stderr.trimEnd().split("\n").at(-1), stderr).toBe("OK");
    expect(code).toBe(0);
  },
  400_000,
);

it.skipIf(reason !== "")("the Python client has a method for every command of the protocol", async () => {
  const program = "import galley_rpc, json; print(json.dumps([n for n in dir(galley_rpc.RpcClient) if n[0] != '_']))";
  const { stdout } = await run("python3", ["-c", program], {
    env: { ...env, PYTHONDONTWRITEBYTECODE: "1" },
    cwd: join(projectRoot, "clients/python"),
  });
  expect(JSON.parse(stdout)).toEqual(expect.arrayContaining(Object.keys(commandSchemaByType)));
});
