// What holds for the events of any session, whatever the model, the tools and the host do: starts and ends pair up, what
// streams adds up, and one prompt settles once. Frames are told in the order of the wire; each broken law is a sentence.

/** By type of frame; they stand in the class because they look at what it keeps to itself. */
let laws;

export class EventLaws {
  problems = [];
  /** Runs, and the times the session settled. */
  runs = 0;
  settled = 0;
  #accepted = 0;
  #begun = 0;
  #isIdle = true;
  #isInRun = false;
  #isTerminal = false;
  #isInTurn = false;
  #open;
  #calls = new Map();
  #waits = new Map();
  #hasFallback = false;

  /** Nothing runs, and nothing announced that it will. */
  get isIdle() {
    return this.#isIdle && !this.#isInRun;
  }

  read(frame) {
    const law = laws[frame.type];
    if (law) law.call(this, frame);
    return this;
  }

  /** At the end of a session: whatever began has ended. */
  end() {
    this.#expect(!this.#isInRun, "a run has no agent_end");
    this.#expect(this.#isIdle, "a run has no agent_settled");
    for (const [name, isOpen] of this.#waits) this.#expect(!isOpen, `${name}_start has no ${name}_end`);
    return this;
  }

  #expect(isTrue, problem) {
    if (!isTrue) this.problems.push(problem);
    return isTrue;
  }

  static {
    /** A start may follow another where the wait goes on, as between two retries. */
    const pair = (name, { mayRepeat }) => ({
      [`${name}_start`]() {
        this.#expect(mayRepeat || !this.#waits.get(name), `${name}_start within another`);
        this.#expect(!this.#isInRun, `${name}_start within a run`);
        this.#waits.set(name, true);
      },
      [`${name}_end`]({ success }) {
        this.#expect(this.#waits.get(name), `${name}_end without its start`);
        this.#expect(success || !this.#isInRun, `${name}_end within a run`);
        this.#waits.set(name, false);
      },
    });

    laws = {
      response({ command, success }) {
        if (success && (command === "prompt" || command === "abort_and_prompt")) this.#accepted++;
      },
      agent_start() {
        this.#expect(!this.#isInRun, "agent_start within a run");
        if (this.#isIdle) this.#expect(++this.#begun <= this.#accepted, "a run before its prompt was answered");
        else this.#expect(!this.#isTerminal, "another run after a terminal agent_end and before agent_settled");
        this.runs++;
        this.#isInRun = true;
        this.#isIdle = false;
      },
      agent_end({ isTerminal }) {
        this.#expect(this.#isInRun, "agent_end without a run");
        this.#expect(!this.#isInTurn, "agent_end within a turn");
        this.#expect(!this.#open, "agent_end within a message");
        this.#expect(this.#calls.size === 0, "agent_end before the end of a call");
        this.#isInRun = false;
        this.#isTerminal = isTerminal;
      },
      agent_settled() {
        this.#expect(!this.#isInRun, "agent_settled within a run");
        this.settled++;
        // A prompt that was stopped before its run settles without one.
        if (this.#isIdle) this.#expect(++this.#begun <= this.#accepted, "agent_settled without a prompt");
        this.#isIdle = true;
        this.#isTerminal = false;
      },
      turn_start() {
        this.#expect(this.#isInRun && !this.#isInTurn, "turn_start outside of a run or within a turn");
        this.#isInTurn = true;
      },
      turn_end({ message, toolResults }) {
        this.#expect(this.#isInTurn, "turn_end without its start");
        this.#expect(this.#calls.size === 0, "turn_end before the end of a call");
        const wanted = message.content.filter(({ type }) => type === "toolCall").map(({ id }) => id);
        const got = toolResults.map(({ toolCallId }) => toolCallId);
        this.#expect(JSON.stringify(wanted) === JSON.stringify(got), `calls ${wanted} have the results ${got}`);
        this.#isInTurn = false;
      },
      message_start({ message }) {
        this.#expect(this.#isInTurn, `message_start(${message.role}) outside of a turn`);
        this.#expect(!this.#open, `message_start(${message.role}) within a message`);
        this.#open = { role: message.role, blocks: [] };
      },
      message_update({ message, assistantMessageEvent: event }) {
        if (!this.#expect(this.#open?.role === "assistant", "message_update outside of a reply")) return;
        const isWhole = message.content.length > 0;
        if (isWhole)
          this.#expect(
            JSON.stringify(message) === JSON.stringify(event.partial),
            "message and partial are not the same",
          );
        const problem = follow(this.#open.blocks, event, isWhole ? message : undefined);
        this.#expect(problem === undefined, problem);
      },
      message_end({ message }) {
        this.#expect(this.#open?.role === message.role, `message_end(${message.role}) without its start`);
        for (const [index, block] of (this.#open?.blocks ?? []).entries()) {
          const isCut = message.stopReason === "aborted" || message.stopReason === "error";
          this.#expect(block.isClosed || isCut, `block ${index} of a good reply has no end`);
          const text = message.content[index]?.text ?? message.content[index]?.thinking;
          if (block.kind !== "toolcall" && text !== undefined && message.content.length > 0)
            this.#expect(text === block.text, `block ${index} ends as another text than its deltas`);
        }
        this.#open = undefined;
      },
      tool_execution_start({ toolCallId }) {
        this.#expect(this.#isInTurn, "tool_execution_start outside of a turn");
        this.#expect(!this.#calls.has(toolCallId), `${toolCallId} starts twice`);
        this.#calls.set(toolCallId, true);
      },
      tool_execution_update({ toolCallId }) {
        this.#expect(this.#calls.has(toolCallId), `an update of ${toolCallId}, which does not run`);
      },
      tool_execution_end({ toolCallId }) {
        this.#expect(this.#calls.delete(toolCallId), `${toolCallId} ends without its start`);
      },
      retry_fallback_applied() {
        this.#expect(this.#waits.get("auto_retry") && !this.#isInRun, "retry_fallback_applied without a retry");
        this.#hasFallback = true;
      },
      retry_fallback_succeeded() {
        this.#expect(this.#hasFallback && this.#isInTurn && !this.#open, "retry_fallback_succeeded without a fallback");
        this.#hasFallback = false;
      },
      budget_exceeded() {
        this.#expect(!this.#open, "budget_exceeded within a message");
      },
      ...pair("auto_retry", { mayRepeat: true }),
      ...pair("auto_compaction", { mayRepeat: false }),
      compaction_start() {
        this.#expect(!this.#waits.get("compaction"), "compaction_start within another");
        this.#waits.set("compaction", true);
      },
      compaction_end() {
        this.#expect(this.#waits.get("compaction"), "compaction_end without its start");
        this.#waits.set("compaction", false);
      },
    };
  }
}

/** One block after the other, each start, deltas, end; what the deltas add up to is what the message shows. */
function follow(blocks, event, message) {
  const [, kind, moment] = event.type.match(/^(text|thinking|toolcall)_(start|delta|end)$/) ?? [];
  if (moment === undefined) return `${event.type} in a message_update`;
  const index = event.contentIndex;
  if (moment === "start") {
    if (index !== blocks.length) return `block ${index} starts after ${blocks.length} others`;
    blocks.push({ kind, text: "", isClosed: false });
    return undefined;
  }
  const block = blocks[index];
  if (block?.kind !== kind || block.isClosed) return `${event.type} of a block that is not open`;
  if (moment === "delta") block.text += event.delta;
  else block.isClosed = true;
  if (kind === "toolcall") return undefined;
  if (moment === "end" && event.content !== block.text) return `the deltas of block ${index} are not its content`;
  const shown = message?.content[index]?.[kind];
  return message && shown !== block.text ? `block ${index} shows another text than its deltas so far` : undefined;
}
