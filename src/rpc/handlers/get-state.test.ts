import { expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { openSession } from "../../testing/open-session.js";
import { Features } from "../features.js";
import type { HandlerContext } from "../handler.js";
import { getState } from "./get-state.js";

async function stateOf(persist: boolean, lockKind?: "none" | "socket") {
  const folder = temporaryDirectory();
  const { session } = await openSession({ session: { persist, sessionDir: folder, agentDir: folder } });
  if (lockKind) Object.defineProperty(session, "lockKind", { value: lockKind });
  return getState({ session, features: new Features() } as HandlerContext);
}

it("says that nothing guards the session file, where that is so (L-1)", async () => {
  expect(await stateOf(true, "none")).toMatchObject({ lockKind: "none" });
  expect((await stateOf(true, "socket")).lockKind).toBeUndefined();
  expect((await stateOf(false)).lockKind).toBeUndefined(); // no file, nothing to guard
});
