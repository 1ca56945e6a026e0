// A model on the loopback that does what the prompt says. The last message with a line "Do: " lists the calls, each
// made when the one before has its result. Other requests (a package may ask by itself) are answered with "ok".

import { createServer } from "node:http";

export async function startModelServer() {
  const requests = [];
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = JSON.parse(Buffer.concat(parts).toString("utf8"));
    requests.push(body);
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of [...reply(body), "[DONE]"])
      response.write(`data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`);
    response.end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { requests, url: `http://127.0.0.1:${server.address().port}/v1` };
}

/** A package may put text of its own before or after it. */
const line = /^Do: (.*)$/m;

function reply({ messages }) {
  const texts = messages.map((message) => (message.role === "user" ? textOf(message) : ""));
  const from = texts.findLastIndex((text) => line.test(text));
  const calls = from < 0 ? [] : JSON.parse(line.exec(texts[from])[1]);
  const done = messages.slice(from + 1).reduce((sum, { tool_calls }) => sum + (tool_calls?.length ?? 0), 0);
  const next = calls[done];
  if (!next) return [chunk({ content: "ok" }), chunk({}, "stop")];
  const [name, args] = next;
  const call = {
    index: 0,
    id: `call_${from}_${done}`,
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  };
  return [chunk({ tool_calls: [call] }), chunk({}, "tool_calls")];
}

function textOf({ content }) {
  return typeof content === "string" ? content : content.map(({ text = "" }) => text).join("");
}

function chunk(delta, finish_reason = null) {
  const usage = finish_reason ? { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } : undefined;
  return { id: "c1", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }], usage };
}

export const promptOf = (calls) => `Do: ${JSON.stringify(calls)}`;
