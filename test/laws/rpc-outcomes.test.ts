// One outcome per prompt, whatever goes wrong: every fault of the model service with every fault of the host and of an
// extension. Time runs at least three hundred times as fast, so that every deadline of the program is reached, and a wait without
// one shows as a test that does not end.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Clock } from "../../src/base/clock.js";
import { inLanes } from "../../src/base/in-lanes.js";
import { Settings } from "../../src/config/settings/settings.js";
import { ModelRegistry } from "../../src/provider/models/model-registry.js";
import { readModelsFile } from "../../src/provider/models/models-file.js";
import { streamByApi } from "../../src/provider/stream-by-api.js";
import { openAi } from "../../src/testing/scripted-replies.js";
import { EventLaws } from "../kit/event-laws.mjs";
import { extensionFaults, hostFaults, providerFaults } from "../kit/outcome-faults.js";
import { type InProcessHost, serveInProcess } from "../kit/rpc-in-process.js";

/** A fifth of all, with every pair of faults among them; the fault run plays every one. */
const isWhole = process.env.GALLEY_OUTCOMES === "all";
const haste = 300;
/** All of them share one thread, so the last waits for the others. */
const patienceMs = isWhole ? 120_000 : 20_000;
const fastClock = (speed: number): Clock => ({
  now: () => 1_767_600_000_000 + Math.round(performance.now() * speed),
  after(delayMs, callback) {
    const timer = setTimeout(callback, Math.min(delayMs / speed, 2 ** 31 - 1));
    return () => clearTimeout(timer);
  },
});

let server: Server;
const asked = new Map<string, number>();
beforeAll(async () => {
  server = createServer((request, response) => {
    const [, fault = "", number = ""] = decodeURIComponent(request.url ?? "").split("/");
    const before = asked.get(number) ?? 0;
    asked.set(number, before + 1);
    response.on("error", () => {}); // whoever asked may hang up
    request.resume().on("end", () => providerFaults[fault]?.reply(response, before));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const cases = Object.keys(providerFaults).flatMap((provider, a) =>
  Object.keys(hostFaults).flatMap((host, b) =>
    Object.keys(extensionFaults).flatMap((extension, c) =>
      isWhole || (a + b + c) % 5 === 4 ? [{ provider, host, extension }] : [],
    ),
  ),
);

describe("one outcome per prompt", () => {
  it.concurrent.each(Object.keys(providerFaults))(
    "model service: %s",
    async (provider) => {
      const due = cases.filter((one) => one.provider === provider);
      const problems: string[] = [];
      await inLanes(due, 7, async (one) => {
        const found = await playCase(one).catch((error: unknown) => [String(error)]);
        problems.push(...found.map((problem) => `${one.provider} / ${one.host} / ${one.extension}: ${problem}`));
      });
      expect(problems, problems.join("\n")).toEqual([]); // told in full by every report
      expect(fallbacks.has(provider)).toBe(providerFaults[provider]?.spare !== undefined);
    },
    600_000,
  );
});

let number = 0;
/** Those where another model stood in at least once. */
const fallbacks = new Set<string>();

async function playCase({ provider, host: hostName, extension }: (typeof cases)[number]): Promise<string[]> {
  const fault = providerFaults[provider];
  const hostFault = hostFaults[hostName];
  const { make, needsAbort } = extensionFaults[extension] ?? { make: () => {} };
  if (!fault || !hostFault) throw new Error("no such fault");
  const { port } = server.address() as AddressInfo;
  const model = openAi.model("", { baseUrl: `http://127.0.0.1:${port}/${encodeURIComponent(provider)}/${++number}` });
  const host = await serveInProcess({
    files: { "a.txt": "one\n" },
    hasUI: true,
    session: {
      clock: fastClock(haste * (fault.haste ?? 1)),
      model,
      extensions: [make],
      ...(fault.spare === undefined ? {} : withSpare(`http://127.0.0.1:${port}/${fault.spare}/spare${number}`)),
      streamFn: (request) =>
        streamByApi({ ...request, options: { ...request.options, firstEventTimeoutMs: 150, idleTimeoutMs: 150 } }),
    },
  });
  const write = (frame: object) => host.send(JSON.stringify(frame));
  write({ id: "n", type: "negotiate_protocol", protocolVersion: 2, features: ["prompt-result", "delta-updates"] });
  write({ id: "p1", type: "prompt", message: "Go" });
  await until(host, () => answers(host, "p1").length > 0, "answer to the prompt");
  hostFault.act(host);
  const prompts = ["p1", ...(hostFault.prompts ?? [])];
  // What would go on for ever is ended by the host, as soon as it has seen something of it.
  if (!hostFault.isGone && (fault.isEndless || needsAbort)) {
    const isSeen = () => host.frames.some(({ type }) => type === "message_update" || type === "extension_ui_request");
    await until(host, () => isSeen() || results(host, "p1").length > 0, "sign of life");
    for (let round = 0; !prompts.every((id) => isDecided(host, id)) && round < 5; round++) {
      write({ id: `a${round}`, type: "abort" });
      await until(host, () => answers(host, `a${round}`).length > 0, "answer to abort");
    }
  }
  if (!hostFault.isGone) {
    await until(host, () => prompts.every((id) => isDecided(host, id)), "outcome of every prompt");
    write({ id: "s", type: "get_state" });
    await until(host, () => answers(host, "s").length > 0, "answer at the end");
  }
  const code = await host.close();
  if (host.frames.some(({ type }) => type === "retry_fallback_applied")) fallbacks.add(provider);
  // The end of a session waits for nobody longer than a few seconds, and this one never comes back.
  const isCutShort = hostFault.isGone && extension === "hangs";
  return [
    ...(code === 0 ? [] : [`exit ${code}`]),
    ...(isCutShort ? [] : lawsBroken(host)),
    ...prompts.flatMap((id) => outcomeProblems(host, id)),
  ];
}

function withSpare(baseUrl: string) {
  const spare = { baseUrl, api: "openai-completions", apiKey: "k", models: [{ id: "spare" }] };
  const runCommand = () => Promise.reject(new Error("no command"));
  return {
    settings: new Settings({ overrides: new Map([["retry.fallbackChains", { default: ["acme/spare"] }]]) }),
    modelRegistry: new ModelRegistry({
      sources: { env: {}, authFile: new Map(), runtimeKeys: new Map(), runCommand },
      file: readModelsFile({ providers: { acme: spare } }, "models.yml"),
    }),
  };
}

const answers = (host: InProcessHost, id: string) =>
  host.frames.filter((frame) => frame.type === "response" && frame.id === id);
const results = (host: InProcessHost, id: string) =>
  host.frames.filter((frame) => frame.type === "prompt_result" && frame.id === id);

/** A prompt that waits in a queue reports with the run that takes it; an abort leaves it there. */
function isDecided(host: InProcessHost, id: string): boolean {
  const isQueued = id === "p3" && host.frames.some((frame) => frame.type === "session_settled" || frame.id === "a0");
  return results(host, id).length > 0 || (isQueued && results(host, "p1").length > 0);
}

/** At the latest the end of the session decides. */
function outcomeProblems(host: InProcessHost, id: string): string[] {
  const first = answers(host, id).filter(({ success, command }) => success && String(command).includes("prompt"));
  if (first.length !== 1) return [`${first.length} acceptances of ${id}`];
  const count = results(host, id).length;
  return count === 1 ? [] : [`${count} outcomes of ${id}`];
}

function lawsBroken(host: InProcessHost): readonly string[] {
  const laws = new EventLaws();
  for (const frame of host.frames) laws.read(frame as { type: string });
  return laws.end().problems;
}

async function until(host: InProcessHost, isTrue: () => boolean, what: string): Promise<void> {
  for (const deadline = Date.now() + patienceMs; !isTrue(); ) {
    if (Date.now() > deadline) {
      const types = host.frames.slice(-6).map((frame) => `${frame.type} ${frame.id ?? ""}`);
      throw new Error(`no ${what}; last: ${types.join(", ")}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
