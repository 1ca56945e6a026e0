import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { Settings } from "../../config/settings/settings.js";
import { createAgentSession } from "../../sdk/index.js";
import { scriptedProviderModel } from "../../testing/open-session.js";
import { call, say, scriptedModel } from "../../testing/scripted-model.js";
import { Features } from "../features.js";
import { decisionOf, undone } from "./undo.js";

it("an undo that was written is told, also where what it replaced is too large to be kept", async () => {
  const home = temporaryDirectory();
  const file = join(home, "project/f.txt");
  mkdirSync(join(home, "project"));
  writeFileSync(file, "small\n");
  const { session } = await createAgentSession({
    cwd: join(home, "project"),
    agentDir: join(home, "agent"),
    env: {},
    model: scriptedProviderModel,
    streamFn: scriptedModel([call("write", { path: "f.txt", content: "x".repeat(5000) }), say("Done.")]).stream,
    loadRules: async () => [],
    settings: new Settings({ overrides: new Map([["undo.maxBytes", 3000]]) as never }),
  });
  await session.prompt("go");
  const features = new Features();
  const data = await undone({ session, features }, await session.undo(decisionOf({ apply: true }, features)));
  expect(readFileSync(file, "utf8")).toBe("small\n");
  expect(data).toMatchObject({
    text: "Undone: Write: f.txt.",
    change: {
      id: expect.stringMatching(/^ch_[0-9a-f]{8}$/),
      pendingId: "pa_1",
      label: "Undo: Write: f.txt",
      sourceToolName: "undo",
      by: "host",
      reason: "Asked by the host.",
      files: [{ path: "f.txt", kind: "modify" }],
      state: "applied",
      undoable: false,
    },
  });
  await session.dispose();
});
