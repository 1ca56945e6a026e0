// A stand-in for galley: runs what it is told, one JSON line of [kind, line] pairs, says "ready" when every command has, and
// waits to be killed.

import { writeSync } from "node:fs";
import { createInterface } from "node:readline";

const [module, tag] = process.argv.slice(2);
const { createNodeProcesses, silentLog } = await import(module);
const processes = createNodeProcesses({ env: process.env, log: silentLog });

for await (const text of createInterface({ input: process.stdin })) {
  const lines = JSON.parse(text);
  writeSync(1, "starting\n");
  await Promise.all(
    lines.map(
      (line) =>
        new Promise((resolve, reject) => {
          let said = "";
          const onOutput = (chunk) => {
            said += Buffer.from(chunk).toString();
            if (said.length < 1000 && said.includes("ready")) resolve();
            return undefined;
          };
          processes.run({ command: { shell: line }, cwd: "/", env: { TAG: tag }, onOutput }).catch(reject);
        }),
    ),
  );
  writeSync(1, "ready\n");
}
