import * as os from "node:os";
import { afterEach, expect, it, vi } from "vitest";
import { homedir, tmpdir } from "./home.js";

afterEach(() => vi.unstubAllEnvs());

it.each([undefined, "", "/home/me", "/", "/a/"])("says what node:os says with the variables at %j", (value) => {
  vi.stubEnv("HOME", value);
  vi.stubEnv("TMPDIR", value);
  expect([homedir(), tmpdir()]).toEqual([os.homedir(), os.tmpdir()]);
});
