// What the model and its service say in a visit: the secret in every form, by every path, three characters at a time.

export const { anthropic, startScriptedServer } = await import(new URL("../../dist/testing.js", import.meta.url).href);

const inThrees = (text) => text.match(/[\s\S]{1,3}/g) ?? [];

/** The secret and its decoy in each form in which either may come back. */
export function formsOf(value) {
  return [
    value,
    encodeURIComponent(value),
    JSON.stringify({ value }),
    ...[0, 1, 2].map((before) => Buffer.from(`${"u".repeat(before)}${value}:p`).toString("base64")),
    Buffer.from(`xy${value}`).toString("base64url"),
  ].join(" ");
}

function thinking(index, text) {
  const deltas = inThrees(text).map((part) => ({ type: "thinking_delta", thinking: part }));
  return anthropic.block(index, { type: "thinking", thinking: "" }, [
    ...deltas,
    { type: "signature_delta", signature: "c2ln" },
  ]);
}

function say(index, text) {
  const deltas = inThrees(text).map((part) => ({ type: "text_delta", text: part }));
  return anthropic.block(index, { type: "text", text: "" }, deltas);
}

function call(index, name, input) {
  const deltas = inThrees(JSON.stringify(input)).map((part) => ({ type: "input_json_delta", partial_json: part }));
  return anthropic.block(index, { type: "tool_use", id: `toolu_${name}_${index}`, name, input: {} }, deltas);
}

const turn = (...blocks) => anthropic.reply(blocks.flat(), "tool_use");

/** Long enough for an artifact, with the secret at places that the excerpt cuts. */
const longCommand = (path) => `cat $(yes ${path} | head -n 200)`;

/** One prompt: thoughts, text, and calls of tools whose arguments and results hold it. */
export function conversation({ said, content }) {
  return [
    turn(thinking(0, `I think of ${said}.`), say(1, `I say ${said}.`), call(2, "write", { path: "out.txt", content })),
    turn(call(0, "read", { path: "out.txt" })),
    turn(call(0, "bash", { command: longCommand("out.txt") })),
    turn(call(0, "bash", { command: `echo ${quoted(content)} >&2; exit 3` })),
    anthropic.reply(say(0, `Done with ${said}.`)),
  ];
}

/** A reply that is cut off within the secret. */
export function cutReply(secret, decoy) {
  const half = secret.slice(0, secret.length - 4);
  return anthropic.reply(say(0, `${decoy} ${half}`), "max_tokens");
}

export function refusal({ said }) {
  const error = { type: "invalid_request_error", message: `No good: ${said}` };
  return {
    status: 400,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ type: "error", error }),
  };
}

export function plainAnswer({ said }) {
  return anthropic.reply(say(0, `Answer: ${said}.`));
}

export function stagedWrite({ content }) {
  return [turn(call(0, "write", { path: "staged.txt", content })), anthropic.reply(say(0, "Staged."))];
}

function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
