import { describe, expect, it } from "vitest";
import { assistant, chain, compaction, modelChange, result, said, user } from "../../record/entries.test-kit.js";
import { headOf, maxResultCharacters, serializeEntries } from "./serialize.js";

describe("serializeEntries", () => {
  it("names who said what, in order", () => {
    const path = chain(
      modelChange,
      user("Find it"),
      said(
        assistant({
          content: [
            { type: "thinking", thinking: "Where?" },
            { type: "redactedThinking", data: "secret" },
            { type: "text", text: "Looking." },
            { type: "toolCall", id: "a", name: "grep", arguments: { pattern: "x" } },
            { type: "toolCall", id: "b", name: "ls", arguments: {} },
          ],
        }),
      ),
      result("a", "3:x"),
      said({ role: "developer", content: "Be quick.", timestamp: 1 }),
      { type: "custom_message", customType: "note", content: "Noted.", display: false },
      said({
        role: "bashExecution",
        command: "ls",
        output: "a.ts",
        exitCode: 1,
        cancelled: false,
        truncated: false,
        timestamp: 1,
      }),
      said({ role: "fileMention", files: [{ path: "a.ts", content: "let a;" }], timestamp: 1 }),
      compaction("e1"),
    );
    expect(serializeEntries(path)).toEqual([
      "[User]: Find it",
      "[Assistant thinking]: Where?",
      "[Assistant]: Looking.",
      '[Assistant tool calls]: grep({"pattern":"x"}); ls({})',
      "[Tool result]: 3:x",
      "[Developer]: Be quick.",
      "[Custom]: Noted.",
      "[User]: Ran `ls`\n```\na.ts\n```\nCommand exited with code 1",
      '[User]: <file path="a.ts">\nlet a;\n</file>',
    ]);
  });

  it("cuts long outputs and arguments, and says how much is missing", () => {
    const long = "x".repeat(maxResultCharacters + 500);
    const call = assistant({ content: [{ type: "toolCall", id: "a", name: "write", arguments: { content: long } }] });
    const [callText, resultText] = serializeEntries(chain(said(call), result("a", long)));
    expect(resultText).toBe(`[Tool result]: ${"x".repeat(maxResultCharacters)}\n[500 more characters left out]`);
    expect(callText).toContain("more characters left out])");
    expect(callText?.length).toBeLessThan(maxResultCharacters + 100);
    expect(serializeEntries(chain(user(long)))).toEqual([`[User]: ${long}`]);
  });

  it("leaves out what is empty or hidden from the model, and names images", () => {
    const hidden = { role: "bashExecution" as const, command: "x", output: "y", cancelled: false, truncated: false };
    const image = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
    const path = chain(
      said(assistant()),
      user("  "),
      said({ ...hidden, excludeFromContext: true, timestamp: 1 }),
      said({ role: "user", content: [image], timestamp: 1 }),
    );
    expect(serializeEntries(path)).toEqual(["[User]: [image]"]);
  });
});

describe("headOf", () => {
  it("never ends in half a character", () => {
    expect(headOf("a🙂b", 2)).toBe("a");
    expect(headOf("a🙂b", 3)).toBe("a🙂");
    expect(headOf("a🙂", 3)).toBe("a🙂");
  });
});
