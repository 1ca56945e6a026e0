import { describe, expect, it } from "vitest";
import { protectedTest } from "./protected-paths.js";

const isProtected = protectedTest({
  homes: ["/home/me", "/data/me"],
  configDirectories: ["/home/me/.galley", "/srv/agent"],
  projects: ["/p"],
  tempDirs: ["/srv/agent/tmp/1"],
});

describe("W-5: known by its words, there or not", () => {
  it.each([
    "/p/.git",
    "/p/.git/hooks/pre-commit",
    "/p/sub/.git/config",
    "/p/.galley/settings.json",
    "/p/.pi/tools/x.ts",
    "/p/.vscode/tasks.json",
    "/p/.idea/x.xml",
    "/p/.gitmodules",
    "/p/.mcp.json",
    "/p/sub/.envrc",
    "/home/me/.ssh/authorized_keys",
    "/data/me/.ssh/config",
    "/home/me/.bashrc",
    "/data/me/.zshenv",
    "/home/me/.config/autostart/x.desktop",
    "/home/me/Library/LaunchAgents/x.plist",
    "/srv/agent/auth.json",
    "/srv/agent/tmp/1/.git/config",
    // Other spellings of the same.
    "/p/.GIT/config",
    "/p/.Mcp.JSON",
    "/p/.v\u017fcode/tasks.json",
    "/p/.g\u200cit/config",
    "/p/.git./config",
    "/p/.git /config",
    "/p/.git::$INDEX_ALLOCATION/config",
    "/p/GIT~1/config",
    "/HOME/Me/.SSH/config",
  ])("%j is protected", (path) => {
    expect(isProtected(path)).toBe(true);
  });

  it.each([
    "/p/a.ts",
    "/p/.github/workflows/ci.yml",
    "/p/.gitignore",
    "/p/git/config",
    "/p/.bashrc",
    "/p/.ssh/config",
    "/p/...",
    "/home/me/notes",
    "/srv/agents/x",
    "/srv/agent/tmp/1/a",
  ])("%j is not", (path) => {
    expect(isProtected(path)).toBe(false);
  });
});
