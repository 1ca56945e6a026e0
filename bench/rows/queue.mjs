// Many messages queued while nothing runs, then one prompt that takes them all: four times as many cost about four times
// as much.

import { galley } from "../kit/agent.mjs";
import { alternate, expect, row } from "../kit/measure.mjs";
import { burst, withAgent } from "../kit/model.mjs";

const sizes = [250, 1000, 4000];

export async function queue() {
  const samples = await alternate(3, Object.fromEntries(sizes.map((size) => [size, () => queueAndPrompt(size)])));
  return sizes.slice(1).map((size, index) =>
    row({
      name: `growth of the queue, ${sizes[index].toLocaleString("en")} to ${size.toLocaleString("en")} messages`,
      unit: "ms",
      samples: samples[size],
      against: { name: sizes[index].toLocaleString("en"), samples: samples[sizes[index]] },
      limit: 4.6,
    }),
  );
}

function queueAndPrompt(size) {
  const replies = [burst(["Ready."]), burst(["Understood."])];
  return withAgent(galley, { replies }, async (agent, server) => {
    await agent.prompt("Are you there?");
    const messages = Array.from({ length: size }, (_, index) => `Message ${index}.`);
    agent.forget();
    const askedAt = performance.now();
    agent.send({ type: "set_steering_mode", mode: "all" });
    agent.send(...messages.map((message) => ({ type: "steer", message })));
    const settledAt = await agent.prompt("Go.");
    const accepted = agent.frames().filter(({ type, success }) => type === "response" && success);
    expect(accepted.length === size + 2, `${accepted.length} of ${size + 2} commands were accepted`);
    const asked = JSON.stringify(server.requests.at(-1).body.messages);
    expect(
      messages.every((message) => asked.includes(message)),
      "a queued message did not reach the model",
    );
    return settledAt - askedAt;
  });
}
