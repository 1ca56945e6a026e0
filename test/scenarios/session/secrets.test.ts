// Secrets in a session: what the model, events and memory hold of them, and what stays exact. That nothing leaks out of
// the built program is tested in test/process/secrets.test.ts.

import { describe, expect, it } from "vitest";
import { Settings } from "../../../src/config/settings/settings.js";
import { call, openSession, type ScriptStep, say } from "../../../src/testing/index.js";

const secret = "hunter2-hunter2-hunter2";
const env = { SHOP_PASSWORD: secret };
const shape = `ghp${"_"}${"aB3dE5gH7jK9".repeat(3)}`;

function opened(model: readonly ScriptStep[], more: { settings?: Settings } = {}) {
  const files = { "a.txt": `password: ${secret}\ntoken: ${shape}\n` };
  return openSession({ model, files, session: { env, ...more } });
}

function resultText(messages: readonly object[]): string {
  return JSON.stringify(messages.filter((message) => "role" in message && message.role === "toolResult"));
}

describe("a tool result", () => {
  it("is masked for the model, in memory and in events, with keys known by their shape", async () => {
    const { session, model, events } = await opened([call("read", { path: "a.txt" }), say("Read.")]);
    await session.prompt("Read it.");
    for (const seen of [session.messages, events, model.requests]) {
      expect(JSON.stringify(seen)).not.toContain(secret);
      expect(JSON.stringify(seen)).not.toContain(shape);
    }
    expect(resultText(session.messages)).toContain("password: [secret:SHOP_PASSWORD]");
    expect(resultText(session.messages)).toContain("token: [secret:key]");
  });

  it("is shown to the model as it is where the user says so", async () => {
    const settings = new Settings();
    settings.override("secrets.maskForModel", "off");
    const { session } = await opened([call("read", { path: "a.txt" }), say("Read.")], { settings });
    await session.prompt("Read it.");
    expect(resultText(session.messages)).toContain(secret);
    expect(session.secrets.mask(secret)).toBe("[secret:SHOP_PASSWORD]");
  });
});

describe("arguments", () => {
  it("run as the model gave them, and are told masked", async () => {
    const content = `p=${secret}\n`;
    const { session, workspace, events, model } = await opened([call("write", { path: "b.txt", content }), say("Ok.")]);
    await session.prompt("Write it.");
    expect(workspace.files["b.txt"]).toBe(content);
    expect(JSON.stringify(events)).not.toContain(secret);
    expect(JSON.stringify(model.requests.at(-1))).toContain("p=[secret:SHOP_PASSWORD]");
  });
});

it("a preview that shows a mask can be applied, exactly, and not be edited", async () => {
  const settings = new Settings();
  settings.override("staging", "all");
  settings.override("resolve.decider", "user");
  const content = `p=${secret}\n`;
  const { session, workspace } = await opened([call("write", { path: "b.txt", content }), say("Staged.")], {
    settings,
  });
  await session.prompt("Stage it.");
  const [action] = await session.getPendingActions();
  const { id = "", revision = 0 } = action ?? {};
  const edit = { pendingId: id, revision, path: "b.txt", hunk: 1, text: "q\n", by: "user" as const };
  await expect(session.revisePendingAction(edit)).rejects.toMatchObject({
    message: "This hunk of b.txt cannot be edited: a secret in it is masked. Apply or discard it as it is.",
  });
  await session.resolvePendingAction({ pendingId: id, action: "apply", reason: "", by: "user" });
  expect(workspace.files["b.txt"]).toBe(content);
});
