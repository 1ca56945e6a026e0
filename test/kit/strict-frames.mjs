// A host that believes nothing: every line of stdout is held against the tables, in the order in which it came, with
// what was negotiated in mind. Stands in for clients that stop reading at the first frame they cannot accept.

import { isObject, list, members, oneOf, text } from "./shapes.mjs";
import { requestId } from "./strict-shapes.mjs";
import { dataByCommand, featureOfFrame, frames, uiRequest } from "./strict-tables.mjs";

const maxFrameBytes = 1_048_576;
const maxChunkBytes = 262_144;
const eventShapes = new Map(Object.entries(frames).map(([type, table]) => [type, members({ type: text, ...table })]));
const failure = members({
  "id?": requestId,
  type: text,
  command: text,
  success: oneOf(false),
  error: text,
  "code?": text,
  "details?": members({ actions: list(members({ id: text, label: text, files: list(text) })) }),
  "requestId?": requestId,
  "requestCommand?": text,
});
const envelope = { "id?": requestId, type: text, command: text, success: oneOf(true) };
const answer = members(envelope);
const successes = new Map(
  Object.entries(dataByCommand).map(([command, row]) => {
    const data = typeof row === "function" ? { data: row } : row?.mayBeAbsent ? { "data?": row.shape } : {};
    const never = row === undefined ? ["data", "error"] : ["error"];
    return [command, members({ ...envelope, ...data }, { never })];
  }),
);

export class StrictReader {
  /** What was wrong, with the start of its line. */
  problems = [];
  /** Types and members that no table names: a host passes over them. */
  unlisted = new Set();
  #isReadyDue;
  #isVersion2 = false;
  #features = new Set();
  #chunks;

  #onJoined;

  /** `expectReady: false` for a server without its start-up; `onJoined` is given what came in chunks. */
  constructor({ expectReady = true, onJoined = () => {} } = {}) {
    this.#isReadyDue = expectReady;
    this.#onJoined = onJoined;
  }

  /** One line without its LF. Answers with what is wrong, and remembers it. */
  read(line) {
    const problem = this.#problemOf(line);
    if (problem) this.problems.push(`${problem} in ${line.slice(0, 300)}`);
    return problem;
  }

  /** Throws what has been found so far. */
  verify() {
    if (this.problems.length > 0) throw new Error(`A strict host refuses: ${this.problems.slice(0, 5).join("\n")}`);
  }

  #problemOf(line) {
    let frame;
    try {
      frame = JSON.parse(line);
    } catch {
      return "no JSON";
    }
    if (!isObject(frame)) return "not an object";
    if (typeof frame.type !== "string") return "type is not a string";
    if (this.#isReadyDue !== (frame.type === "ready"))
      return this.#isReadyDue ? "the first frame is not ready" : "ready twice";
    this.#isReadyDue = false;
    if (this.#chunks && frame.type !== "rpc_chunk") return "a frame between the chunks of another";
    if (this.#isVersion2 && frame.type !== "rpc_chunk" && Buffer.byteLength(line) > maxFrameBytes)
      return "a frame above the limit that is not in chunks";
    const unlisted = [];
    const problem = this.#check(frame, unlisted);
    for (const place of unlisted) this.unlisted.add(place);
    return problem;
  }

  #check(frame, unlisted) {
    const { type } = frame;
    if (type === "response") return this.#checkResponse(frame, unlisted);
    if (type === "extension_ui_request") return uiRequest(frame, type, unlisted);
    const shape = eventShapes.get(type);
    if (!shape) return void unlisted.push(type);
    return (
      shape(frame, type, unlisted) ??
      this.#checkContext(frame) ??
      (type === "rpc_chunk" ? this.#join(frame) : undefined)
    );
  }

  #checkResponse(frame, unlisted) {
    const place = `response to ${frame.command}`;
    if (frame.success === false) return failure(frame, place, unlisted);
    const problem = answer(frame, place, []);
    if (problem) return problem;
    const whole = successes.get(frame.command);
    if (!whole) return void unlisted.push(place);
    const found = whole(frame, place, unlisted);
    if (found) return found;
    if (frame.command === "prompt" && frame.data && !this.#features.has("prompt-result"))
      return `${place} has data unasked`;
    if (frame.command === "negotiate_protocol") {
      this.#isVersion2 = frame.data.protocolVersion === 2;
      this.#features = new Set(frame.data.features);
    }
    return undefined;
  }

  #checkContext(frame) {
    const { type } = frame;
    const feature = featureOfFrame[type];
    if (feature && !this.#features.has(feature)) return `${type} without the feature ${feature}`;
    if (["rpc_chunk", "available_commands_update"].includes(type) && !this.#isVersion2)
      return `${type} without version 2`;
    if (!type.startsWith("message_")) return undefined;
    const inner = frame.assistantMessageEvent?.type;
    if (["start", "done", "error"].includes(inner)) return `${inner} rides in a message_update`;
    if (this.#features.has("message-ids") !== Object.hasOwn(frame, "messageId"))
      return `${type} ${frame.messageId === undefined ? "lacks its" : "has a"} messageId`;
    const isStub = type === "message_update" && this.#features.has("delta-updates");
    const copies = isStub ? [frame.message, frame.assistantMessageEvent.partial] : [];
    return copies.some(({ content }) => content.length > 0) ? `${type} repeats the message` : undefined;
  }

  #join({ chunkId, index, count, byteLength, data }) {
    const bytes = Buffer.from(data, "base64");
    const so = this.#chunks ?? { chunkId, count, byteLength, parts: [] };
    this.#chunks = undefined;
    if (count < 2 || byteLength < maxFrameBytes) return "chunks for a frame that needs none";
    if (bytes.length === 0 || bytes.length > maxChunkBytes) return `a chunk of ${bytes.length} bytes`;
    if (chunkId !== so.chunkId || count !== so.count || byteLength !== so.byteLength || index !== so.parts.length)
      return "a chunk out of order";
    so.parts.push(bytes);
    if (so.parts.length < count) {
      this.#chunks = so;
      return undefined;
    }
    const whole = Buffer.concat(so.parts);
    if (whole.length !== byteLength) return `${whole.length} bytes in chunks that promised ${byteLength}`;
    return this.#problemOfJoined(whole.toString("utf8"));
  }

  #problemOfJoined(line) {
    let frame;
    try {
      frame = JSON.parse(line);
    } catch {
      return "chunks that make no JSON";
    }
    this.#onJoined(frame);
    const unlisted = [];
    const problem = this.#check(frame, unlisted);
    for (const place of unlisted) this.unlisted.add(place);
    return problem;
  }
}
