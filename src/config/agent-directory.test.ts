import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { agentDirectory } from "./agent-directory.js";

it.each<[Record<string, string>, string]>([
  [{}, "/home/u/.galley/agent"],
  [{ GALLEY_AGENT_DIR: "/a", PI_CODING_AGENT_DIR: "/b" }, "/a"],
  [{ GALLEY_AGENT_DIR: "", PI_CODING_AGENT_DIR: "/b/../c/" }, "/c"],
  [{ GALLEY_AGENT_DIR: "~/x" }, "/home/u/x"],
  [{ GALLEY_AGENT_DIR: "~" }, "/home/u"],
  [{ GALLEY_AGENT_DIR: "~other/x" }, resolve("~other/x")],
  [{ GALLEY_CONFIG_DIR: ".g", PI_CONFIG_DIR: ".p" }, "/home/u/.g/agent"],
  [{ PI_CONFIG_DIR: ".p" }, "/home/u/.p/agent"],
])("for %j is %s", (env, expected) => expect(agentDirectory(env, "/home/u")).toBe(expected));

it("is in the user's home by default", () => expect(agentDirectory({})).toBe(join(homedir(), ".galley", "agent")));
