// One hunk of a preview is decided through RPC: of 5,000 files against of 50. The first decision of a process is told apart
// from later ones: it may have to compare files that no command has asked for yet.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Agent, galley, workspace } from "../kit/agent.mjs";
import { alternate, expect, row } from "../kit/measure.mjs";

const rounds = 3;
const decisions = 7;
const filler = "export const filler = 1;\n".repeat(30);
const place = join(workspace, "review");

export async function review() {
  const samples = await alternate(rounds, { few: () => decide(50), many: () => decide(5000) });
  const compare = (name, pick) =>
    row({
      name,
      unit: "ms",
      samples: samples.many.flatMap(pick),
      against: { name: "of 50 files", samples: samples.few.flatMap(pick) },
      limit: 5,
    });
  return [
    compare("one hunk of 5,000 files, first", ({ first }) => first),
    compare("one hunk of 5,000 files, later", ({ later }) => later),
  ];
}

async function decide(count) {
  rmSync(place, { recursive: true, force: true });
  for (let index = 0; index < count; index++) {
    const directory = join(place, `d${index % 20}`);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, `f${index}.ts`), `oldName(${index});\n${filler}oldName(0);\n`);
  }
  const agent = new Agent(galley, { env: { GALLEY_MAX_AST_FILES: "5000" } });
  try {
    await agent.ready;
    await agent.prompt("replace oldName($A) with newName($A) in review");
    const ask = async (id, command) => {
      const answered = agent.arrival(`"id":"${id}","type":"response"`);
      const askedAt = performance.now();
      agent.send({ id, ...command });
      return (await answered) - askedAt;
    };
    const one = (index) => ({
      type: "resolve_pending_action",
      action: "apply",
      reason: "bench",
      hunks: { [`review/d${index % 20}/f${index}.ts`]: [1] },
    });
    const first = await ask("d0", one(0));
    await ask("list", { type: "get_pending_actions" });
    const later = [];
    for (let index = 1; index <= decisions; index++) later.push(await ask(`d${index}`, one(index)));
    await agent.close();
    const { data } = agent.frames().find(({ id }) => id === `d${decisions}`);
    expect(data?.text?.startsWith("Applied 1 of "), `not applied: ${data?.text}`);
    expect(readFileSync(join(place, "d1/f1.ts"), "utf8").startsWith("newName(1);"), "the bytes are not there");
    return { first, later };
  } finally {
    agent.kill();
  }
}
