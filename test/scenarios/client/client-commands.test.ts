// The client is whole and small: a method for every command, with the fields of the schema; nothing it needs but Node.

import { build } from "esbuild";
import { describe, expect, expectTypeOf, it } from "vitest";
import type { RpcClient } from "../../../src/client/index.js";
import type { RpcCommandType } from "../../../src/protocol/commands.js";
import type { RpcData } from "../../../src/protocol/data.js";
import { commandSchemas } from "../../../src/protocol/schema.js";
import { accepted, logOf, startFake } from "../../kit/client-rig.js";

type Camel<T extends string> = T extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : T;
type AnswerOf<C extends RpcCommandType> =
  Camel<C> extends keyof RpcClient
    ? RpcClient[Camel<C>] extends (...args: never[]) => infer Answer
      ? Answer
      : never
    : never;
type IsSame<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Prompting = "prompt" | "abort_and_prompt"; // they give their request's id
/** The commands whose method is missing or promises something else. */
type Wrong = {
  [C in RpcCommandType]: [AnswerOf<C>] extends [never]
    ? C
    : IsSame<AnswerOf<C>, Promise<C extends Prompting ? string : RpcData[C]>> extends true
      ? never
      : C;
}[RpcCommandType];

const camel = (type: string) => type.replace(/_./g, (match) => match.slice(1).toUpperCase());
const commands = Object.entries(commandSchemas()).map(([type, schema]) => {
  const { type: _, ...properties } = schema.properties as Record<string, object>;
  const required = (schema.required as string[]).filter((name) => name !== "type");
  return { type, required, optional: Object.keys(properties).filter((name) => !required.includes(name)) };
});

describe("the methods", () => {
  it("give what the protocol promises, as far as the compiler can tell", () => {
    expectTypeOf<Wrong>().toEqualTypeOf<never>();
  });

  it("send every command: required fields in order, then optional ones by name", async () => {
    expect(commands.length).toBeGreaterThan(45);
    const client = await startFake({ rules: [{ on: "prompt", do: [accepted] }] });
    for (const { type, required, optional } of commands) {
      const values = type === "set_host_tools" ? [[]] : required.map((name) => `the ${name}`);
      const options = Object.fromEntries(optional.map((name) => [name, `the ${name}`]));
      const method = client[camel(type) as keyof RpcClient] as unknown as (...args: unknown[]) => Promise<unknown>;
      expect(method, `a method for ${type}`).toBeTypeOf("function");
      await method.call(client, ...values, { ...options, timeoutMs: 5000 });
      const sent =
        type === "set_host_tools" ? { tools: [] } : Object.fromEntries(required.map((name) => [name, `the ${name}`]));
      const { id: _, ...frame } = (await logOf(client, [type])).at(-1) ?? {};
      expect(frame).toEqual({ type, ...sent, ...options });
    }
  });
});

describe("the bundle", () => {
  it("stays below 21 KB and imports nothing but Node", async () => {
    const { outputFiles, metafile } = await build({
      entryPoints: ["src/client/index.ts"],
      bundle: true,
      minify: true,
      platform: "node",
      format: "esm",
      target: "node20.19",
      write: false,
      metafile: true,
    });
    const [output] = Object.values(metafile.outputs);
    expect(outputFiles[0]?.contents.length).toBeLessThan(21 * 1024);
    expect(output?.imports.map(({ path }) => path)).toEqual(["node:child_process"]);
    expect(Object.keys(output?.inputs ?? {}).filter((path) => !path.startsWith("src/"))).toEqual([]);
    expect(output?.exports.sort()).toEqual(["RpcClient", "RpcError"]);
  });
});
