import fc from "fast-check";
import { expect, it } from "vitest";
import type { AgentMessage } from "../protocol/messages.js";
import { encodeBody } from "../provider/http/json-body.js";
import { completionsPayload } from "../provider/openai/request.js";
import { buildContext } from "../record/build-context.js";
import { createRecordInMemory } from "../record/open-record.js";
import { entryLists } from "../record/store/store.test-kit.js";
import { openAi, streamRequest } from "../testing/scripted-replies.js";
import { ModelMessages } from "./model-messages.js";

const models = [openAi.model("http://127.0.0.1:1"), { ...openAi.model("http://127.0.0.1:1"), id: "other" }];

it("sends what a session opened anew would send, after any appends, prunes, compactions and moves of the leaf", () => {
  fc.assert(
    fc.property(entryLists, fc.array(fc.nat(1), { minLength: 30, maxLength: 30 }), (entries, modelAt) => {
      const record = createRecordInMemory({ cwd: "/project" });
      const live = new ModelMessages();
      /** The record gives ids of its own. */
      const ids = new Map<string, string>();
      for (const [index, entry] of entries.entries()) {
        const own = JSON.parse(JSON.stringify(entry), (_key, value: unknown) =>
          typeof value === "string" ? (ids.get(value) ?? value) : value,
        ) as typeof entry;
        const { id, parentId: _parent, timestamp: _time, ...fields } = own;
        if (fields.type === "leaf") {
          // A move that leads nowhere new leaves no entry that a later one could name.
          if (fields.targetId === null || record.tree.has(fields.targetId)) record.moveLeaf(fields.targetId);
        } else ids.set(id, record.append(fields as Parameters<typeof record.append>[0]).id);
        const model = models[modelAt[index] ?? 0] ?? models[0];
        const bodyOf = (messages: ReturnType<ModelMessages["of"]>) =>
          model &&
          Buffer.concat(encodeBody(completionsPayload(streamRequest(model, {}, { messages })))).toString("utf8");
        const anew = new ModelMessages().of(buildContext(record.tree.pathTo()));
        expect(bodyOf(live.of(record.context))).toBe(bodyOf(anew));
      }
    }),
  );
});

it("loads each image once, wherever the leaf goes", async () => {
  const image = { type: "image" as const, mimeType: "image/png" };
  const shown = (data: string): AgentMessage => ({ role: "user", content: [{ ...image, data }], timestamp: 1 });
  const record = createRecordInMemory({ cwd: "/project" });
  const live = new ModelMessages();
  const asked: AgentMessage[] = [];
  const load = async (message: AgentMessage) => {
    asked.push(message);
    return shown("whole");
  };
  const loaded = async () => {
    await live.loadImages(record.context, load);
    return live.of(record.context);
  };
  const [first, second] = [shown("blob:first"), shown("blob:second")];
  record.appendMessage(first);
  expect([await loaded(), await loaded(), asked]).toEqual([[shown("whole")], [shown("whole")], [first]]);
  record.appendMessage(second);
  expect([await loaded(), asked]).toEqual([
    [shown("whole"), shown("whole")],
    [first, second],
  ]);
  record.moveLeaf(null);
  const third = shown("blob:third");
  record.appendMessage(third);
  expect([await loaded(), asked]).toEqual([[shown("whole")], [first, second, third]]);
});

it("shows no image to a model where that is forbidden, and loads none", async () => {
  const image = { type: "image" as const, mimeType: "image/png", data: "blob:x" };
  const note = { type: "text", text: "[image not sent: the setting images.blockImages is on]" };
  const record = createRecordInMemory({ cwd: "/project" });
  record.appendMessage({ role: "user", content: [{ type: "text", text: "Look" }, image], timestamp: 1 });
  record.appendMessage({ role: "fileMention", files: [{ path: "a.png", content: "", image }], timestamp: 2 });
  const live = new ModelMessages({ blocksImages: true });
  await live.loadImages(record.context, () => Promise.reject(new Error("nobody asked for it")));
  const result = { toolCallId: "c", toolName: "read", isError: false, timestamp: 3 };
  record.appendMessage({ role: "toolResult", ...result, content: [image] }); // while a run is under way
  expect(live.of(record.context)).toMatchObject([
    { content: [{ text: "Look" }, note] },
    { content: [{ text: `<file path="a.png">\n${note.text}\n</file>` }] },
    { content: [note] },
  ]);
  const revised = live.ofRevised(record.context.messages);
  expect(JSON.stringify([live.of(record.context), live.shown(record.context), revised])).not.toContain("blob:x");
  expect(JSON.stringify(record.context.messages)).toContain("blob:x");
});
