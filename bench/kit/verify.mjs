// What an answer must have looked like on stdout, whoever sent it: the deltas add up to the text, and so does the message.

import { expect } from "./measure.mjs";

export function verifyAnswer(frames, deltas) {
  const text = deltas.join("");
  const updates = frames.filter(({ type }) => type === "message_update").map((frame) => frame.assistantMessageEvent);
  const sent = updates.filter(({ type }) => type === "text_delta").map(({ delta }) => delta);
  expect(sent.join("") === text, "the deltas on stdout do not add up to the answer");
  const ends = frames.filter(({ type, message }) => type === "message_end" && message.role === "assistant");
  expect(ends.length === 1, `${ends.length} assistant messages instead of one`);
  expect(textOf(ends[0].message) === text, "message_end does not hold the whole answer");
}

function textOf({ content }) {
  return typeof content === "string" ? content : content.map((block) => block.text ?? "").join("");
}
