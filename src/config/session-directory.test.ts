import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { findSessionDirectory, sessionDirectory } from "./session-directory.js";
import { Settings } from "./settings/settings.js";

function emptyHome() {
  const home = temporaryDirectory();
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  vi.stubEnv("HOME", home);
  for (const name of ["GALLEY_SESSION_DIR", "PI_CODING_AGENT_SESSION_DIR"]) vi.stubEnv(name, undefined);
  mkdirSync(join(home, "agent"));
  return { home, cwd: join(home, "app"), agentDir: join(home, "agent") };
}

it("begins at home where it is written so, else in the working directory", () => {
  const { home, cwd } = emptyHome();
  const chosen = (named: string) => sessionDirectory(named, { cwd, env: {}, settings: new Settings() });
  expect(["~", "~/sessions", "~sessions", "here", "/abs"].map(chosen)).toEqual([
    home,
    join(home, "sessions"),
    join(cwd, "~sessions"),
    join(cwd, "here"),
    "/abs",
  ]);
});

it("the session directory is found without a session: from settings, environment or command line", async () => {
  const { home, ...place } = emptyHome();
  expect(await findSessionDirectory(place)).toBeUndefined();
  writeFileSync(join(place.agentDir, "config.yml"), "sessionDir: ~/by-setting\n");
  expect(await findSessionDirectory(place)).toBe(join(home, "by-setting"));
  writeFileSync(join(place.agentDir, ".env"), "GALLEY_SESSION_DIR=~/by-env-file\n");
  expect(await findSessionDirectory(place)).toBe(join(home, "by-env-file"));
  vi.stubEnv("GALLEY_SESSION_DIR", "by-env");
  expect(await findSessionDirectory(place)).toBe(join(place.cwd, "by-env"));
  expect(await findSessionDirectory({ ...place, sessionDir: "given" })).toBe(join(place.cwd, "given"));
});
