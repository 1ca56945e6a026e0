// An agent that follows a script, for what the real one cannot be made to do on demand: odd first lines, chunks, host
// tool calls, dialogs, crashes. argv[2] is JSON: `{ ready?, first?, rules: [{ on, where?, times?, do: [...] }] }`.
// A rule fires when a frame of type `on` with the members of `where` arrives; its steps are frames to write, with
// "$id" standing for the id of the frame, or one of: {"$raw": text}, {"$chunk": frame}, {"$exit": code},
// {"$kill": signal}, {"$stderr": text}, {"$ignoreEnd": true}. A command that no rule answers is answered with an echo of
// itself; the command `get_log` tells every frame that has arrived.

const script = JSON.parse(process.argv[2] ?? "{}");
const standardReady = {
  type: "ready",
  version: "0.0.0-fake",
  protocolVersion: 1,
  supportedProtocolVersions: [1],
  maxFrameBytes: 1048576,
  maxReassembledFrameBytes: 67108864,
  features: [],
};
const control = new Set(["extension_ui_response", "host_tool_update", "host_tool_result"]);
const rules = (script.rules ?? []).map((rule) => ({ times: Number.POSITIVE_INFINITY, ...rule }));
const log = [];
let ignoresEnd = false;

if (script.first !== undefined) process.stdout.write(script.first);
else write({ ...standardReady, ...script.ready });

let rest = "";
process.stdin.setEncoding("utf8").on("data", (text) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop();
  for (const line of lines) serve(JSON.parse(line));
});
process.stdin.on("end", () => {
  if (!ignoresEnd) process.exit(0);
  setInterval(() => {}, 1000);
});

function serve(frame) {
  log.push(frame);
  const { id, type } = frame;
  if (type === "get_log") return write({ id, type: "response", command: type, success: true, data: { log } });
  const rule = rules.find(({ on, where = {}, times }) => times > 0 && on === type && includes(frame, where));
  if (rule) {
    rule.times--;
    for (const step of rule.do) perform(step, frame);
  } else if (!control.has(type)) {
    write({ id, type: "response", command: type, success: true, data: { ...frame, features: frame.features ?? [] } });
  }
}

function perform(step, { id }) {
  if ("$raw" in step) process.stdout.write(step.$raw);
  else if ("$stderr" in step) process.stderr.write(step.$stderr);
  else if ("$exit" in step) process.exit(step.$exit);
  else if ("$kill" in step) process.kill(process.pid, step.$kill);
  else if ("$ignoreEnd" in step) ignoresEnd = true;
  else if ("$chunk" in step) writeChunks(withId(step.$chunk, id));
  else write(withId(step, id));
}

/** Pads the frame to the size from which frames are cut, and cuts it. */
function writeChunks(frame) {
  const bytes = Buffer.from(JSON.stringify({ ...frame, padding: "ä".repeat(600_000) }));
  const pieces = [];
  for (let start = 0; start < bytes.length; start += 262_144) pieces.push(bytes.subarray(start, start + 262_144));
  for (const [index, piece] of pieces.entries())
    write({
      type: "rpc_chunk",
      chunkId: "rpc-1",
      index,
      count: pieces.length,
      byteLength: bytes.length,
      data: piece.toString("base64"),
    });
}

function withId(frame, id) {
  return JSON.parse(JSON.stringify(frame).replaceAll('"$id"', JSON.stringify(id ?? null)));
}

function includes(frame, where) {
  return Object.entries(where).every(([key, value]) => frame[key] === value);
}

function write(frame) {
  process.stdout.write(`${JSON.stringify(frame)}\n`);
}
