// The types of the package, as a program sees them that has installed it: with its dependencies and nothing else, every
// declaration checked.

import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { ensureBuilt } from "../kit/rpc-host.js";
import { projectRoot } from "../kit/run-galley.js";
import { temporaryDirectory } from "../kit/temporary-directory.js";

beforeAll(ensureBuilt, 150_000);

const place = temporaryDirectory();

const program = `
import { type AgentSessionEvent, createAgentSession, type CustomToolFactory, type ExtensionFactory } from "galley";
import { RpcClient } from "galley/client";
import * as protocol from "galley/protocol";
import { say, scriptedModel } from "galley/testing";

export const extension: ExtensionFactory = (pi) => {
  pi.sendMessage({ customType: "note", content: "It rains.", display: true }, { deliverAs: "steer" });
  pi.registerTool({
    name: "count",
    description: "Counts",
    label: "Count",
    parameters: pi.zod.object({ of: pi.zod.string() }),
    execute: async (_id, params) => ({ content: [{ type: "text", text: params.of }] }),
  });
};
export const tool: CustomToolFactory = ({ typebox: { Type } }) => ({
  name: "own",
  label: "Own",
  description: "Own",
  parameters: Type.Object({ n: Type.Number() }),
  execute: async (_id, { n }) => ({ content: [{ type: "text", text: n.toFixed() }] }),
});
// @ts-expect-error: no number
export const pattern = (pi: Parameters<CustomToolFactory>[0]) => pi.zod.string().min("one");
const { session } = await createAgentSession({ cwd: ".", streamFn: scriptedModel([say("hi")]).stream });
session.subscribe((event) => {
  if (event.type === "tool_execution_end") console.log(event.toolName, event.isError);
  // @ts-expect-error: there is no such event
  if (event.type === "no_such_event") return;
  // @ts-expect-error: nor such a member
  event.typo;
});
// @ts-expect-error: no event
export const event: AgentSessionEvent = 42;
// @ts-expect-error: no member of a message
session.messages[0]?.nonsense;
export const client = new RpcClient();
export type Text = protocol.TextContent["text"];
// @ts-expect-error: it is a text
export const text: Text = 1;
`;

it("need nothing that is not installed with it", () => {
  const { dependencies } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  const modules = join(place, "node_modules");
  mkdirSync(join(modules, "galley/dist"), { recursive: true });
  // A copy: from a link the compiler would find its way to what only we have installed.
  for (const path of ["package.json", "dist/types"])
    cpSync(join(projectRoot, path), join(modules, "galley", path), { recursive: true });
  for (const name of [...Object.keys(dependencies), "@types/node"]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(projectRoot, "node_modules", name), join(modules, name));
  }
  writeFileSync(join(place, "package.json"), '{ "type": "module" }\n');
  writeFileSync(join(place, "program.ts"), program);
  const options = "--strict --module node16 --moduleResolution node16 --target es2022 --types node --noEmit".split(" ");
  const tsc = join(projectRoot, "node_modules/.bin/tsc");
  const { stdout, status } = spawnSync(tsc, [...options, "program.ts"], { cwd: place, encoding: "utf8" });
  expect([stdout, status]).toEqual(["", 0]);
}, 120_000);
