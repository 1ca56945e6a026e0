// A long answer through each dialect, against the AI SDK's package for the same service: both read the same bytes from
// the same server, each in a process of its own, and their CPU time is compared.

import { execFile } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { root, workspace } from "../kit/agent.mjs";
import { buildModule } from "../kit/build-module.mjs";
import { alternate, expect, row } from "../kit/measure.mjs";

const { anthropic, google, openAi, openAiResponses, startScriptedServer } = await import(
  pathToFileURL(join(root, "dist/testing.js")).href
);

const count = 10_000;
const rounds = 7;
const oracles = join(root, "test/oracles");
const reader = fileURLToPath(new URL("dialects-reader.mjs", import.meta.url));

/** One line per dialect: what is sent, and how the AI SDK makes a model that reads it. */
const table = [
  { replies: anthropic, sdk: { package: "@ai-sdk/anthropic", create: "createAnthropic", base: "/v1" } },
  { replies: openAi, sdk: { package: "@ai-sdk/openai", create: "createOpenAI", base: "/v1", kind: "chat" } },
  { replies: openAiResponses, sdk: { package: "@ai-sdk/openai", create: "createOpenAI", base: "/v1" } },
  { replies: google, sdk: { package: "@ai-sdk/google", create: "createGoogleGenerativeAI", base: "/v1beta" } },
];

export async function dialects() {
  if (!existsSync(join(oracles, "node_modules")))
    return [{ skipped: "the AI SDK is not installed. Run npm ci in test/oracles." }];
  const directory = join(workspace, "..", "dialects");
  mkdirSync(directory, { recursive: true });
  const contents = 'export { streamByApi } from "./provider/stream-by-api.js";';
  const ours = pathToFileURL(await buildModule(directory, { name: "galley", contents })).href;
  const rows = [];
  for (const { replies, sdk } of table) {
    const theirs = pathToFileURL(createRequire(join(oracles, "package.json")).resolve(sdk.package)).href;
    const samples = await alternate(rounds, {
      galley: () => read(replies, { module: ours }),
      sdk: () => read(replies, { module: theirs, sdk }),
    });
    const against = { name: sdk.package, samples: samples.sdk };
    const name = `${count.toLocaleString("en")} deltas through ${replies.model("").api}`;
    rows.push(row({ name, unit: "CPU ms", samples: samples.galley, against, limit: 0.5 }));
  }
  return rows;
}

/** The CPU time of reading the long answer, after a short one that opens the connection and loads the code. */
async function read(replies, how) {
  const server = await startScriptedServer([replies.text("Ready."), replies.manyDeltas(count)]);
  try {
    const task = JSON.stringify({ ...how, url: server.url, model: replies.model(server.url) });
    const { stdout } = await promisify(execFile)(process.execPath, [reader, task]);
    const { characters, cpuMs } = JSON.parse(stdout);
    expect(characters === count * "word ".length, `${how.module} read ${characters} characters`);
    return cpuMs;
  } finally {
    await server.close();
  }
}
