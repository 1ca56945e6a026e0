// Paths that the host itself sends are no wish of the agent's: no user is asked about them, and nothing waits behind one.
// Where extensions do ask, a host still learns the state.

import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { ensureBuilt, RpcHost } from "../kit/rpc-host.js";
import { temporaryDirectory } from "../kit/temporary-directory.js";

beforeAll(ensureBuilt, 150_000);
let host: RpcHost;
afterEach(() => host.dispose());

it("switch_session to a missing file is an error that names it, wherever it is", async () => {
  const elsewhere = join(temporaryDirectory(), "none.jsonl");
  host = new RpcHost();
  await host.waitForType("ready");
  host.send({ id: "0", type: "get_state" });
  const before = (await host.waitForResponse("0")).data;
  host.send({ id: "1", type: "switch_session", sessionPath: elsewhere }, { id: "2", type: "get_state" });
  expect(await host.waitForResponse("1")).toMatchObject({
    success: false,
    error: `File not found: ${elsewhere}`,
    code: "session_missing",
  });
  expect((await host.waitForResponse("2")).data).toEqual(before);
  host.send({ id: "3", type: "switch_session", sessionPath: "none.jsonl" });
  expect(await host.waitForResponse("3")).toMatchObject({
    success: false,
    error: expect.stringMatching(/^File not found: .*none\.jsonl$/),
  });
  expect(host.frames.filter(({ type }) => type === "extension_ui_request")).toEqual([]);
  expect(existsSync(elsewhere)).toBe(false);
});

it("export_html writes where the host says, by the host's rights", async () => {
  const folder = temporaryDirectory();
  mkdirSync(join(folder, "notes"));
  host = new RpcHost();
  await host.waitForType("ready");
  const page = join(folder, "new/page.html");
  host.send({ id: "1", type: "export_html", outputPath: page }, { id: "2", type: "get_state" });
  expect(await host.waitForResponse("2")).toMatchObject({ success: true });
  await host.until(() => host.frames.some(({ id }) => id === "1"), "the answer");
  expect(host.frames.find(({ id }) => id === "1")).toMatchObject({ success: true, data: { path: page } });
  expect(readFileSync(page, "utf8")).toContain("<!doctype html>");
  host.send({ id: "3", type: "export_html", outputPath: join(folder, "notes") });
  expect(await host.waitForResponse("3")).toMatchObject({
    success: false,
    error: `Cannot write ${join(folder, "notes")}: it is not a file`,
  });
  host.send({ id: "4", type: "export_html", outputPath: "" });
  expect(await host.waitForResponse("4")).toMatchObject({ success: false, error: "Path must not be empty." });
  expect(host.frames.filter(({ type }) => type === "extension_ui_request")).toEqual([]);
});

describe("get_state is answered while a question is open", () => {
  const asking = async (event: string) => {
    const code = `export default (pi) =>
      pi.on("${event}", async (_event, ctx) => void (await ctx.ui.confirm("Go on?", "${event}")));`;
    host = new RpcHost({ args: ["-e", "asks.ts"], files: { "asks.ts": code } });
    await host.waitForType("ready");
  };

  it("that a command before it asks", async () => {
    await asking("session_before_switch");
    host.send({ id: "new", type: "new_session" }, { id: "state", type: "get_state" });
    const { id } = await host.waitForType("extension_ui_request");
    expect(await host.waitForResponse("state")).toMatchObject({ success: true, data: { isStreaming: false } });
    expect(host.frames.some((frame) => frame.id === "new")).toBe(false);
    host.send({ type: "extension_ui_response", id, confirmed: true }, { id: "last", type: "get_state" });
    expect(await host.waitForResponse("new")).toMatchObject({ success: true });
    await host.waitForResponse("last");
    expect(host.frames.filter((frame) => frame.id === "state")).toHaveLength(1);
  });

  it("that an extension asks at the start of the session", async () => {
    await asking("session_start");
    host.send({ id: "state", type: "get_state" });
    await host.waitForType("extension_ui_request");
    expect(await host.waitForResponse("state")).toMatchObject({ success: true });
  });
});
