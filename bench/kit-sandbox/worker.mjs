// Runs a job as the user that started it: each command in a fresh scene, with or without a box. The job is a JSON file,
// the answers are JSON on standard output. Standard input is a file outside of the project.

import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { closeScene, makeScene, resetScene, until } from "./scene.mjs";

const job = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { createNodeProcesses, createSandbox, silentLog } = await import(job.module);
const scene = await makeScene(job.base);
const env = { ...process.env, HOME: scene.home, XDG_RUNTIME_DIR: scene.runtime };
const sandbox = createSandbox({ env, projectRoot: scene.project, log: silentLog });
// Set by the user, to see that the sandbox drops them.
const services = { SSH_AUTH_SOCK: "/x", DBUS_SESSION_BUS_ADDRESS: "x", DISPLAY: ":0" };
const processes = createNodeProcesses({ env, log: silentLog, environment: { ...scene.variables, ...services } });

const answer = { probe: await sandbox.probe(), results: [] };
for (const task of job.tasks) answer.results.push(await perform(task));
await processes.shutdown();
await closeScene(scene);
process.stdout.write(JSON.stringify(answer), () => process.exit());

async function perform({ command, happened, counts, isBoxed, rules = {}, prepare, input, timeoutMs, file, args }) {
  resetScene(scene);
  writeFileSync(`${scene.outside}/input.kept`, "");
  if (prepare !== undefined)
    spawnSync("/bin/sh", ["-c", prepare], { cwd: scene.project, env: { ...env, ...scene.variables } });
  const counted = counts === undefined ? 0 : scene[counts];
  let output = "";
  const result = {};
  try {
    result.end = await processes.run({
      command: file === undefined ? { shell: command } : { file, args },
      cwd: scene.project,
      ...(input === "ours" ? { stdin: { isOurs: true } } : {}),
      timeoutMs,
      box: isBoxed
        ? await sandbox.box({
            mode: "workspace",
            roots: [scene.project, scene.second],
            home: scene.home,
            agentDir: scene.agent,
            tempDir: scene.temporary,
            hide: [`${scene.home}/secret-notes`],
            show: job.show,
            unixSockets: "own",
            network: "off",
            ...rules,
          })
        : undefined,
      onOutput(chunk) {
        output += chunk;
        return undefined;
      },
    });
  } catch (error) {
    result.error = error.message;
  }
  result.output = output;
  if (counts !== undefined) result.hasEscaped = await until(() => scene[counts] > counted, 300);
  else if (happened !== undefined) {
    const test = spawnSync("/bin/sh", ["-c", happened], { cwd: scene.project, env: { ...env, ...scene.variables } });
    result.hasEscaped = test.status === 0;
    result.seen = String(test.stdout);
  } else result.hasEscaped = output.includes("ESCAPED");
  return result;
}
