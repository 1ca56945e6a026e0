import { PassThrough } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BodyChunks } from "./body-chunks.js";

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("BodyChunks", () => {
  it("hands over every byte in order, whoever is faster", async () => {
    const act = fc.oneof(fc.uint8Array({ minLength: 1, maxLength: 9 }), fc.constantFrom("ask", "turn"));
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 40 }), async (acts) => {
        const body = new PassThrough();
        const chunks = new BodyChunks(body);
        const taken: Uint8Array[] = [];
        let asked = Promise.resolve();
        const ask = async () => {
          const { value } = await chunks.next();
          if (value) taken.push(value);
        };
        for (const what of acts)
          if (what === "turn") await turn();
          else if (what === "ask") asked = asked.then(ask);
          else body.write(what);
        body.end();
        await asked;
        for await (const chunk of chunks) taken.push(chunk);
        const sent = acts.filter((what) => typeof what !== "string");
        expect(Buffer.concat(taken).toString("hex")).toBe(Buffer.concat(sent).toString("hex"));
      }),
      { numRuns: 200 },
    );
  });

  it("stops the sender while nobody takes anything, and goes on when somebody does", async () => {
    const body = new PassThrough();
    const chunks = new BodyChunks(body);
    const chunk = Buffer.alloc(1024, "x");
    let sent = 0;
    for (let idle = 0; idle < 50 && sent < 1024 * 1024; idle = body.writableNeedDrain ? idle + 1 : 0) {
      if (!body.writableNeedDrain) {
        body.write(chunk);
        sent += chunk.length;
      }
      await turn();
    }
    expect(sent).toBeLessThan(256 * 1024);
    body.end();
    let bytes = 0;
    for await (const { length } of chunks) bytes += length;
    expect(bytes).toBe(sent);
  });

  it("hands over in one piece what piled up: each piece costs a reader memory and time", async () => {
    const body = new PassThrough();
    const chunks = new BodyChunks(body);
    for (const text of ["a", "b", "c"]) body.write(text);
    await turn();
    expect((await chunks.next()).value?.toString()).toBe("abc");
    body.end();
    expect((await chunks.next()).done).toBe(true);
  });

  it("fails where the body breaks off, after what had come", async () => {
    const body = new PassThrough();
    const chunks = new BodyChunks(body);
    body.write("a");
    await turn();
    body.destroy(new Error("aborted"));
    await turn();
    expect((await chunks.next()).value?.toString()).toBe("a");
    await expect(chunks.next()).rejects.toThrow("aborted");
    await expect(chunks.next()).rejects.toThrow("aborted");
  });

  it("fails whoever waits when the body is closed without a word", async () => {
    const body = new PassThrough();
    const next = new BodyChunks(body).next();
    body.destroy();
    await expect(next).rejects.toThrow("The reply was closed before its end.");
  });

  it("closes the body when nobody wants the rest", async () => {
    const body = new PassThrough();
    const chunks = new BodyChunks(body);
    expect(await chunks.return()).toEqual({ done: true, value: undefined });
    expect(body.destroyed).toBe(true);
  });
});
