// For the programs that run in the box: a model that says what is scripted, and the files of pi that name it.

import { writeFileSync } from "node:fs";
import { openAi, startScriptedServer } from "../../dist/testing.js";

/** The first answer reads a.txt; `more` come after the usual two. `thinks` as the test says it. */
export async function scriptedPlace({ agentDir, cwd, thinks, ids = ["scripted"], more = [] }) {
  const server = await startScriptedServer([
    openAi.toolCalls([{ id: "c1", name: "read", arguments: { path: "a.txt" } }]),
    ...["It says hello.", "Again.", ...more].map((text) => openAi.text(text)),
  ]);
  const models = ids.map((id) => ({ id, reasoning: thinks === "thinks" }));
  const acme = { baseUrl: `${server.url}/v1`, api: "openai-completions", apiKey: "key", models };
  writeFileSync(`${agentDir}/models.json`, JSON.stringify({ providers: { acme } }));
  writeFileSync(`${cwd}/a.txt`, "hello\n");
  return server;
}
