// Every way out at every phase of a run: stdin ends, stdout closes, a signal comes, the client is killed. The program is
// gone in time with the right code and without a stack trace, nobody it started is left, what it wrote is in order, and
// the session opens again with everything that was acknowledged.

import { readFileSync } from "node:fs";
import { bearers, killAll, untilNone } from "../kit-workspace/processes-seen.mjs";
import { replies, Scene } from "./scene.mjs";

const limitMs = 5000;
const orphanMs = 3000;
const prompt = { id: "p", type: "prompt", message: "Work on it" };
const sleeping = (scene) => {
  const isRunning = () => bearers(scene.tag).some((pid) => nameOf(pid).includes("sleep 86399"));
  return scene.until(isRunning, "a running command");
};
const asking = "export default (pi) => { pi.on('tool_call', (event, ctx) => ctx.ui.confirm('Go on?', 'Say so.')); };";
const lent = { name: "lent", description: "Lent by the host", parameters: { type: "object" } };

/** How each phase is set up and reached. */
export const phases = {
  starting: { replies: [], reach: async () => {} },
  idle: { replies: [], reach: (scene) => scene.type("ready") },
  streaming: { replies: [replies.stalls], reach: prompted("message_update") },
  waiting: {
    replies: [replies.silent],
    reach: async (scene) => {
      scene.send(prompt);
      await scene.until(() => scene.requests === 1, "a request");
    },
  },
  tool: {
    replies: [replies.calls("bash", { command: "sleep 86399" })],
    async reach(scene) {
      scene.send(prompt);
      await scene.type("tool_execution_start");
      await sleeping(scene);
    },
  },
  bash: {
    replies: [],
    async reach(scene) {
      scene.send({ id: "b", type: "bash", command: "sleep 86399" });
      await sleeping(scene);
    },
  },
  compaction: {
    replies: [replies.text("word ".repeat(2000)), replies.text("more ".repeat(2000)), replies.silent],
    settings: "compaction:\n  keepRecentTokens: 100\n",
    async reach(scene) {
      for (const id of ["p", "q"]) {
        const settled = scene.laws.settled;
        scene.send({ ...prompt, id });
        await scene.until(() => scene.laws.settled > settled, "agent_settled");
      }
      scene.send({ id: "c", type: "compact" });
      await scene.until(() => scene.requests === 3, "a request for a summary");
    },
  },
  retry: { replies: [replies.unavailable], reach: prompted("auto_retry_start") },
  dialog: {
    replies: [replies.calls("read", { path: "notes.txt" })],
    args: ["-e", "asks.mjs"],
    files: { "asks.mjs": asking, "notes.txt": "Buy ink.\n" },
    reach: prompted("extension_ui_request"),
  },
  host: {
    replies: [replies.calls("lent", {})],
    async reach(scene) {
      scene.send({ id: "h", type: "set_host_tools", tools: [lent] }, prompt);
      await scene.type("host_tool_call");
    },
  },
};

/** What is done, and the code that is due. Killed with its client, the program may notice either end first. */
export const endings = {
  "end of input": { codes: [0], act: (scene) => scene.child.stdin.end() },
  "closed output": {
    codes: [1],
    act(scene) {
      scene.child.stdout.destroy();
      scene.send({ id: "s", type: "get_state" }); // only who writes hears of it
    },
  },
  SIGTERM: { codes: [143], act: (scene) => scene.child.kill("SIGTERM") },
  SIGHUP: { codes: [129], act: (scene) => scene.child.kill("SIGHUP") },
  SIGINT: { codes: [130], act: (scene) => scene.child.kill("SIGINT") },
  "killed client": { codes: [null], hasGoBetween: true, act: (scene) => scene.child.kill("SIGKILL") },
};

/** One case. Answers with what went wrong; `delayMs` waits within the phase, so that the moment differs. */
export async function playExit(phaseName, endingName, { delayMs = 0 } = {}) {
  const phase = phases[phaseName];
  const ending = endings[endingName];
  const scene = await Scene.open({ ...phase, hasGoBetween: ending.hasGoBetween });
  const problems = [];
  const told = (problem) => void problems.push(`${phaseName}, ${endingName}: ${problem}`);
  try {
    await phase.reach(scene);
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    const acknowledged = scene.frames.filter(({ command, success }) => command === "prompt" && success).length;
    const started = performance.now();
    ending.act(scene);
    const exit = await Promise.race([scene.exited, new Promise((resolve) => setTimeout(resolve, limitMs + 1000))]);
    if (!exit) told(`still runs after ${limitMs + 1000} ms`);
    else if (!isDue(exit, ending.codes, { phaseName, endingName })) told(`exit ${exit.code ?? exit.signal}`);
    const goneMs = await untilNone(() => bearers(scene.tag).length === 0, limitMs + orphanMs);
    const tookMs = performance.now() - started;
    if (goneMs === undefined) {
      told(`left behind: ${bearers(scene.tag).map(nameOf).join("; ")}`);
      killAll(bearers(scene.tag));
    }
    if (/\n\s+at /.test(scene.stderr)) told(`a stack trace: ${scene.stderr.slice(0, 300)}`);
    if (scene.strict.problems.length > 0) told(scene.strict.problems[0]);
    const isRead = endingName !== "closed output" && endingName !== "killed client" && exit?.code !== null;
    if (isRead) {
      await Promise.race([scene.ended, new Promise((resolve) => setTimeout(resolve, limitMs))]);
      for (const problem of scene.laws.end().problems) told(problem);
      for (const id of scene.sent) if (!scene.answered(id)) told(`no answer to ${id}`);
    }
    await checkSession(scene, acknowledged, told);
    return { problems, tookMs };
  } finally {
    scene.close();
  }
}

/** `only` chooses cases by name; lanes run side by side. */
export async function runExits({ rounds = 1, lanes = 3, random = Math.random, only = () => true } = {}) {
  const cases = Object.keys(phases).flatMap((phase) => Object.keys(endings).map((ending) => [phase, ending]));
  const due = Array.from({ length: rounds }, () => cases.filter(([phase, ending]) => only(phase, ending))).flat();
  const figures = { points: due.length, "slowest, ms": 0, "slowest case": "", problems: [] };
  let next = 0;
  const lane = async () => {
    while (next < due.length) {
      const round = Math.floor(next / cases.length);
      const [phase, ending] = due[next++];
      const delayMs = round === 0 ? 0 : random() * 300;
      try {
        const { problems, tookMs } = await playExit(phase, ending, { delayMs });
        figures.problems.push(...problems);
        if (tookMs > figures["slowest, ms"])
          Object.assign(figures, { "slowest, ms": tookMs, "slowest case": `${phase}, ${ending}` });
      } catch (error) {
        figures.problems.push(`${phase}, ${ending}: ${error.message}`);
      }
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return figures;
}

/** Before it could take care of signals, the system's way is right, too. */
function isDue({ code, signal }, codes, { phaseName, endingName }) {
  if (codes.includes(code)) return true;
  return phaseName === "starting" && signal === endingName;
}

function prompted(type) {
  return async (scene) => {
    scene.send(prompt);
    await scene.type(type);
  };
}

/** Every line is whole, and the program opens the file and shows each acknowledged prompt. */
async function checkSession(scene, acknowledged, told) {
  const [file] = scene.sessionFiles();
  if (file === undefined) {
    if (acknowledged > 0) told("an acknowledged prompt and no session file");
    return;
  }
  const lines = readFileSync(file, "utf8").split("\n");
  if (lines.pop() !== "") told("the session file ends in the middle of a line");
  for (const line of lines) JSON.parse(line);
  const again = new Scene([], scene.home);
  again.start(["--session", file]);
  try {
    again.send({ id: "m", type: "get_messages" });
    await again.response("m");
    const { data } = again.frames.find(({ id }) => id === "m");
    const prompts = data.messages.filter(({ role, content }) => role === "user" && content[0]?.text === prompt.message);
    if (prompts.length < acknowledged) told(`${acknowledged} prompts acknowledged, ${prompts.length} in the session`);
    again.child.stdin.end();
    await again.exited;
  } finally {
    again.child.kill("SIGKILL");
  }
}

function nameOf(pid) {
  try {
    return `${pid} ${readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").slice(0, 80)}`;
  } catch {
    return pid;
  }
}
