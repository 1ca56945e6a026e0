// Tools that the host lends, and the state that tells of them: four times as many cost about four times as much.

import { galley } from "../kit/agent.mjs";
import { alternate, expect, row, sleep } from "../kit/measure.mjs";
import { withAgent } from "../kit/model.mjs";

const sizes = [100, 400, 1600];
const timesEach = 8;
const parameters = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };

export async function hostTools() {
  const samples = await alternate(3, Object.fromEntries(sizes.map((size) => [size, () => lend(size)])));
  return sizes.slice(1).map((size, index) =>
    row({
      name: `growth of host tools, ${sizes[index].toLocaleString("en")} to ${size.toLocaleString("en")}`,
      unit: "ms",
      samples: samples[size].flat(),
      against: { name: sizes[index].toLocaleString("en"), samples: samples[sizes[index]].flat() },
      limit: 4.6,
    }),
  );
}

function lend(size) {
  const tools = Array.from({ length: size }, (_, index) => ({
    name: `lent_${index}`,
    description: `Does what number ${index} is for.`,
    parameters,
  }));
  return withAgent(galley, { replies: [] }, async (agent) => {
    await stateWith(agent, tools); // what is loaded and compiled on first use is not the tools' cost
    const times = [];
    while (times.length < timesEach) times.push(await stateWith(agent, tools));
    await sleep(50); // the rest of the line
    const { data } = agent.frames().findLast(({ command }) => command === "get_state");
    const told = data.dumpTools.filter(({ name }) => name.startsWith("lent_")).length;
    expect(told === size, `${told} of ${size} tools were told`);
    return times;
  });
}

async function stateWith(agent, tools) {
  const arrived = agent.arrival('"command":"get_state","success":true');
  const askedAt = performance.now();
  agent.send({ type: "set_host_tools", tools }, { type: "get_state" });
  return (await arrived) - askedAt;
}
