// What a host may do with a question, right and wrong, and what must come of it. Each plan says which frames the host
// sends, in their order, and the outcome that they must have: the first answer of the right kind wins, whatever is none
// counts as no answer, and no answer is never a yes.

import { randomFrom } from "../kit-session/random.mjs";

/** As `randomFrom`, with more words. */
export function randomOf(seed) {
  const random = randomFrom(seed);
  return {
    ...random,
    chance: (likelihood) => random.below(1000) < likelihood * 1000,
    shuffled(list) {
      const rest = [...list];
      return list.map(() => rest.splice(random.below(rest.length), 1)[0]);
    },
  };
}

export const dialogMethods = ["select", "confirm", "input", "editor"];

/** Of a dialog: `answers(id)` are the frames, `outcome` what whoever asked must be told. */
export function planDialog(random, method) {
  const none = method === "confirm" ? false : null;
  const yes = method === "confirm" ? true : `answer ${random.below(1e6)}`;
  const good = method === "confirm" ? { confirmed: yes } : { value: yes };
  const bad = random.pick([
    {},
    { cancelled: true },
    { cancelled: true, ...good },
    { value: 7, confirmed: "true" },
    { value: null, confirmed: null },
    { value: ["x"], confirmed: 1 },
    { result: { content: [] } },
    method === "confirm" ? { value: "true" } : { confirmed: true },
  ]);
  const response = (id, fields) => ({ type: "extension_ui_response", id, ...fields });
  return random.pick([
    () => ({ kind: "good", answers: (id) => [response(id, good)], outcome: yes }),
    () => ({ kind: "wrong", answers: (id) => [response(id, bad)], outcome: none }),
    () => ({ kind: "twice", answers: (id) => [response(id, good), response(id, bad)], outcome: yes }),
    () => ({ kind: "too late", answers: (id) => [response(id, bad), response(id, good)], outcome: none }),
    () => ({
      kind: "expired",
      answers: (id) => [response(id, { cancelled: true, timedOut: true })],
      outcome: none,
      isLate: true,
    }),
    () => ({
      kind: "missing",
      timeout: 1 + random.below(30),
      answers: () => [],
      afterCancel: (id) => [response(id, good)],
      outcome: none,
      isLate: true,
    }),
    () => ({
      kind: "taken back",
      abortAfterMs: 1 + random.below(30),
      answers: () => [],
      afterCancel: (id) => [response(id, good)],
      outcome: none,
    }),
    () => ({
      kind: "misdirected",
      answers: (id) => [
        response(random.pick([`${id} `, Number(id.slice(3)), null, [id], `host_${random.below(99)}`, undefined]), good),
        { type: random.pick(["host_tool_result", "host_tool_update"]), id, result: { content: [] } },
        response(id, good),
      ],
      outcome: yes,
    }),
  ])();
}

/** Of a host's tool: `outcome` is what the model is told, `isError` whether as a failure. */
export function planCall(random, name) {
  const text = `result ${random.below(1e6)}`;
  const content = [{ type: "text", text }];
  const result = (id, fields) => ({ type: "host_tool_result", id, ...fields });
  const update = (id, fields) => ({ type: "host_tool_update", id, ...fields });
  const malformed = random.pick([
    {},
    { result: null },
    { result: [] },
    { result: { content: text } },
    { partialResult: { content } },
  ]);
  const badUpdate = (id) => update(id, random.pick([{}, { partialResult: 1 }, { partialResult: { content: "x" } }]));
  const malformedText = `Host tool "${name}" returned a malformed result`;
  return random.pick([
    () => ({ kind: "good", answers: (id) => [result(id, { result: { content } })], outcome: text }),
    () => ({
      kind: "failed",
      answers: (id) => [result(id, { result: { content }, isError: true })],
      outcome: text,
      isError: true,
    }),
    () => ({
      kind: "failed, silent",
      answers: (id) => [result(id, { result: { content: [] }, isError: true })],
      outcome: "Host tool execution failed",
      isError: true,
    }),
    () => ({
      kind: "malformed",
      answers: (id) => [result(id, malformed), result(id, { result: { content } })],
      outcome: malformedText,
      isError: true,
    }),
    () => ({
      kind: "twice",
      answers: (id) => [result(id, { result: { content } }), result(id, { result: { content: [] }, isError: true })],
      outcome: text,
    }),
    () => ({
      kind: "updates",
      answers: (id) => [
        badUpdate(id),
        update(id, { partialResult: { content } }),
        result(id, { result: { content } }),
        update(id, { partialResult: { content } }),
      ],
      outcome: text,
    }),
    () => ({
      kind: "misdirected",
      answers: (id) => [
        result(random.pick([`${id} `, Number(id.slice(5)), null, [id], `host_${10 ** 9}`, `ui_${random.below(99)}`]), {
          result: { content: [] },
        }),
        { type: "extension_ui_response", id, value: "x", confirmed: true },
        result(id, { result: { content } }),
      ],
      outcome: text,
    }),
    () => ({
      kind: "missing",
      isMissing: true,
      answers: () => [],
      afterCancel: (id) => [result(id, { result: { content } })],
      outcome: /^Host tool ".*" timed out after \d+ ms$/,
      isError: true,
    }),
  ])();
}
