// `GALLEY_LOG` in a whole session: what modules and the session itself have to say reaches the file, whoever else hears it.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { Settings } from "../../../src/config/settings/settings.js";
import { createAgentSession } from "../../../src/sdk/index.js";
import { scriptedProviderModel } from "../../../src/testing/open-session.js";
import { call, say, scriptedModel } from "../../../src/testing/scripted-model.js";
import { temporaryDirectory } from "../../kit/temporary-directory.js";

let home: string;
beforeEach(() => {
  home = temporaryDirectory();
  mkdirSync(join(home, "agent/tools"), { recursive: true });
  mkdirSync(join(home, "agent/extensions"));
});

it("modules log to it at every level", async () => {
  const logAll = (who: string) =>
    `for (const level of ["debug", "info", "warn", "error"]) pi.logger[level]("${who}", { n: 1 });`;
  writeFileSync(
    join(home, "agent/tools/l.mjs"),
    `export default (pi) => ({ name: "l", description: "l", parameters: { type: "object" },
      async execute() { ${logAll("tool")} return { content: [] }; } });`,
  );
  writeFileSync(join(home, "agent/extensions/x.mjs"), `export default (pi) => { ${logAll("extension")} };`);
  const told: string[] = [];
  const { session } = await createAgentSession({
    cwd: home,
    agentDir: join(home, "agent"),
    env: { GALLEY_LOG: "galley.txt" },
    model: scriptedProviderModel,
    streamFn: scriptedModel([call("l", {}, "c1"), say("Done.")]).stream,
    settings: new Settings(),
    log: { warn: (text) => told.push(text), error: (text) => told.push(text) },
  });
  await session.prompt("go");
  await session.dispose();
  const lines = readFileSync(join(home, "galley.txt"), "utf8").trimEnd().split("\n");
  const of = (who: string) => ["debug", "info", "warn", "error"].map((level) => `${level} ${who} {"n":1}`);
  expect(lines.map((line) => line.split(" ").slice(2).join(" "))).toEqual([...of("extension"), ...of("tool")]);
  expect(told).toEqual(['extension {"n":1}', 'extension {"n":1}', 'tool {"n":1}', 'tool {"n":1}']);
});
