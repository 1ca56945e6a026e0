// The terminal program: from the spawn to its first frame, what streaming costs beside the library that it draws with, and
// how soon a key is on the screen. In a pseudo terminal of the program `script`.

import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Agent, environment, galley, root, workspace } from "../kit/agent.mjs";
import { alternate, expect, pluck, row } from "../kit/measure.mjs";
import { paced, pieces } from "../kit/model.mjs";

const rounds = 5;
const frame = "\u001b[?2026l";
const streamer = fileURLToPath(new URL("../kit/stream-screen.mjs", import.meta.url));
const keyCount = 40;
const keyEveryMs = 60;

export async function terminal() {
  if (spawnSync("script", ["-qec", "true", "/dev/null"], { input: "" }).status !== 0) {
    process.stderr.write("terminal: skipped, there is no program `script` that gives a pseudo terminal\n");
    return [];
  }
  return [...(await firstPaint()), ...(await streaming()), ...(await keys())];
}

async function firstPaint() {
  const samples = await alternate(rounds, { rpc: readyMs, terminal: paintMs });
  const against = { name: "--mode rpc", samples: samples.rpc };
  return [row({ name: "spawn to first frame", unit: "ms", samples: samples.terminal, against, limit: 3 })];
}

async function readyMs() {
  const agent = new Agent(galley);
  try {
    const ms = (await agent.ready) - agent.startedAt;
    await agent.close();
    return ms;
  } finally {
    agent.kill();
  }
}

async function paintMs() {
  const screen = new Pty();
  try {
    const ms = (await screen.shows(frame)) - screen.startedAt;
    return ms;
  } finally {
    await screen.close();
  }
}

async function streaming() {
  const samples = await alternate(rounds, {
    library: () => stream("library", 150),
    ours: () => stream("ours", 150),
    long: () => stream("ours", 15_000),
  });
  const clears = [...samples.ours, ...samples.long].reduce((sum, { clears }) => sum + clears, 0);
  expect(clears === 0, `the screen was cleared ${clears} times`);
  const ours = pluck(samples.ours, "cpuMs");
  return [
    row({
      name: "CPU of 1,000 deltas, 150 lines before",
      unit: "ms",
      samples: ours,
      against: { name: "library", samples: pluck(samples.library, "cpuMs") },
      limit: 1.5,
    }),
    row({
      name: "the same, 15,000 lines before",
      unit: "ms",
      samples: pluck(samples.long, "cpuMs"),
      against: { name: "150 lines", samples: ours },
      limit: 1.5,
    }),
  ];
}

/** In a process of its own, so that nothing else counts. */
function stream(kind, history) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [streamer, kind, String(history)], {
    cwd: root,
    encoding: "utf8",
  });
  expect(status === 0, stderr);
  return JSON.parse(stdout);
}

/** The 95th of 100 keys; `idle` is part of the bound, since a pseudo terminal takes a while too. */
async function keys() {
  const deltas = pieces(Math.ceil((keyCount * keyEveryMs * 200) / 1000) + 400);
  const { reply, play } = paced(deltas, { groupSize: 1, intervalMs: 5 });
  const { startScriptedServer } = await import("../../dist/testing.js");
  const server = await startScriptedServer([{ ...reply, mayBeLeft: true }]);
  const screen = new Pty(server.url);
  try {
    await screen.shows(frame);
    const idle = await typed(screen, "i");
    screen.write("\u0003");
    screen.write("go\r");
    const playing = play().catch(() => {}); // the program leaves before the end
    await screen.shows("esc to stop");
    const busy = await typed(screen, "b");
    screen.write("\u0003\u0003");
    await screen.close();
    await Promise.race([playing, new Promise((resolve) => setTimeout(resolve, 1000))]);
    const against = { name: "idle + 50 ms", samples: [idle + 50] };
    return [
      row({
        name: "key to screen while 200 deltas a second stream, p95",
        unit: "ms",
        samples: [busy],
        against,
        limit: 1,
      }),
    ];
  } finally {
    await screen.close();
    await server.close().catch(() => {}); // the script is left on purpose
  }
}

async function typed(screen, key) {
  const times = [];
  let text = "";
  for (let index = 0; index < keyCount; index++) {
    const digit = String(index % 10);
    text += key + digit;
    const pressedAt = performance.now();
    screen.forget();
    screen.write(key + digit);
    times.push((await screen.shows(text.slice(-4))) - pressedAt);
    await new Promise((resolve) => setTimeout(resolve, keyEveryMs));
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.95)];
}

class Pty {
  startedAt = performance.now();
  #child;
  #ended;
  #text = "";
  #waiting = new Set();

  constructor(url) {
    const env = { ...environment(url), TERM: "xterm-256color", COLUMNS: "100", LINES: "40" };
    const command = `stty cols 100 rows 40; exec ${process.execPath} ${root}/bin/galley.js ${url ? "--model bench/m" : ""}`;
    this.#child = spawn("script", ["-qec", command, "/dev/null"], {
      cwd: workspace,
      env,
      stdio: ["pipe", "pipe", "ignore"],
    });
    this.#ended = new Promise((resolve) => this.#child.on("close", resolve));
    this.#child.stdin.on("error", () => {}); // it has ended
    this.#child.stdout.setEncoding("utf8").on("data", (text) => {
      this.#text += text;
      for (const look of this.#waiting) look();
    });
  }

  write(text) {
    this.#child.stdin.write(text);
  }

  forget() {
    this.#text = "";
  }

  /** Resolves with the moment it came. */
  shows(wanted) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`the terminal never showed ${JSON.stringify(wanted)}`)), 20_000);
      const look = () => {
        if (!this.#text.includes(wanted)) return;
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve(performance.now());
      };
      this.#waiting.add(look);
      look();
    });
  }

  async close() {
    this.#child.kill("SIGTERM");
    await this.#ended;
  }
}
