// The vendors' own clients as witnesses: they read the bytes that galley reads, and their types say what may be sent.
// They are installed by `npm ci --prefix test/oracles`; without them these tests are skipped and say so.

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe } from "vitest";
import type { StreamEvent } from "../../../src/provider/provider.js";
import { argumentTexts } from "../../../src/testing/scripted-replies.js";
import { compile } from "../../oracles/check-types.js";

const packages = join(import.meta.dirname, "../../oracles");
const missing = existsSync(join(packages, "node_modules")) ? "" : " (skipped: run npm ci --prefix test/oracles)";

export function describeWithOracles(name: string, tests: () => void): void {
  describe.skipIf(missing !== "")(`${name}${missing}`, tests);
}

/** A package of the vendors'. It has no types here, so that the check of types needs none of them. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export function oracle(name: string): any {
  return createRequire(join(packages, "package.json"))(name);
}

/** What a reply says, as every client can tell it. */
export interface Heard {
  text: string;
  thinking: string;
  calls: { id: string; name: string; arguments: unknown }[];
  usage: { input: number; output: number; cacheRead: number; cacheWrite: number };
  stop: "stop" | "length" | "toolUse" | "error";
}

export function heardByGalley(events: readonly StreamEvent[]): Heard {
  const last = events.at(-1);
  if (last?.type !== "done" && last?.type !== "error") throw new Error("The stream has no end.");
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = last.usage ?? {};
  const joined = (type: "text_delta" | "thinking_delta") =>
    events.map((event) => (event.type === type ? event.delta : "")).join("");
  const texts = argumentTexts(events);
  return {
    text: joined("text_delta"),
    thinking: joined("thinking_delta"),
    calls: events
      .filter((event) => event.type === "toolcall_start")
      .map(({ id, name }, index) => ({ id, name, arguments: JSON.parse(texts[index] ?? "") })),
    usage: { input, output, cacheRead, cacheWrite },
    stop: last.type === "done" ? last.reason : "error",
  };
}

interface AiSdkPart {
  type: string;
  delta?: string;
  toolCallId?: string;
  toolName?: string;
  input?: string;
  finishReason?: { unified: string };
  usage?: {
    inputTokens: { noCache?: number; cacheRead?: number; cacheWrite?: number };
    outputTokens: { total?: number };
  };
}

const stops: Record<string, Heard["stop"]> = { stop: "stop", length: "length", "tool-calls": "toolUse" };

/** Through a model of the AI SDK. */
export async function heardByAiSdk(
  model: { doStream(options: object): Promise<{ stream: AsyncIterable<AiSdkPart> }> },
  prompt: readonly object[] = [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
): Promise<Heard> {
  const { stream } = await model.doStream({ prompt });
  const parts: AiSdkPart[] = [];
  for await (const part of stream) parts.push(part);
  const joined = (type: string) => parts.map((part) => (part.type === type ? part.delta : "")).join("");
  const finish = parts.find(({ type }) => type === "finish");
  const { noCache = 0, cacheRead = 0, cacheWrite = 0 } = finish?.usage?.inputTokens ?? {};
  const isError = parts.some(({ type }) => type === "error");
  return {
    text: joined("text-delta"),
    thinking: joined("reasoning-delta"),
    calls: parts
      .filter(({ type }) => type === "tool-call")
      .map(({ toolCallId = "", toolName = "", input = "" }) => ({
        id: toolCallId,
        name: toolName,
        arguments: JSON.parse(input),
      })),
    usage: { input: noCache, output: finish?.usage?.outputTokens.total ?? 0, cacheRead, cacheWrite },
    stop: isError ? "error" : (stops[finish?.finishReason?.unified ?? ""] ?? "error"),
  };
}

/** What the compiler has against the bodies; members that the type does not know are errors too. */
export function typeErrors(type: { name: string; from: string }, bodies: readonly unknown[]): string {
  const lines = bodies.map((body) => `void (${JSON.stringify(body)} satisfies ${type.name});`);
  return compile([[`import type { ${type.name} } from "${type.from}";`, ...lines].join("\n")]);
}
