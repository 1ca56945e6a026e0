// A stand-in for galley: runs what it is told, one JSON line of [kind, line] pairs, says "ready" when every command has, and
// waits to be killed.

import { writeSync } from "node:fs";
import { createInterface } from "node:readline";

const [module, tag] = process.argv.slice(2);
const { createNodeProcesses, silentLog } = await import(module);
const processes = createNodeProcesses({ env: process.env, log: silentLog, environment: { TAG: tag } });
await processes.run({ command: { shell: "true" }, cwd: "/", mergesOutput: true }); // now a shell waits for the next one

for await (const text of createInterface({ input: process.stdin })) {
  const lines = JSON.parse(text);
  writeSync(1, "starting\n");
  await Promise.all(
    lines.map(
      (line, index) =>
        new Promise((resolve, reject) => {
          let said = "";
          const onOutput = (chunk) => {
            said += Buffer.from(chunk).toString();
            if (said.length < 1000 && said.includes("ready")) resolve();
            return undefined;
          };
          // The first in the shell that waits, the others in processes of their own.
          const request = { command: { shell: line }, cwd: "/", mergesOutput: index === 0, onOutput };
          processes.run(request).catch(reject);
        }),
    ),
  );
  writeSync(1, "ready\n");
}
