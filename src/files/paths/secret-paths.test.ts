import { expect, it } from "vitest";
import { defaultSecretPaths, secretTest } from "./secret-paths.js";

it.each([
  ["/p/.env", true],
  ["/p/.env.example", true],
  ["/p/.ENV.local", true],
  ["/p/.envrc", true],
  ["/p/env", false],
  ["/p/.envs/a.ts", false],
  ["/p/server.pem", true],
  ["/p/server.PEM", true],
  ["/p/pem", false],
  ["/p/id_rsa.pub", true],
  ["/p/grid_a", false],
  ["/p/a.ts", false],
])("by default %s: %s", (path, expected) => {
  expect(secretTest(defaultSecretPaths, "/home/me")(path)).toBe(expected);
});

it.each([
  ["config/*.json", "/p/config/a.json", true],
  ["config/*.json", "/p/x/config/a.json", true],
  ["config/*.json", "/p/config/x/a.json", false],
  ["config/**", "/p/config/x/a.json", true],
  ["~/keys/?", "/home/me/keys/k", true],
  ["~/keys/?", "/p/home/me/keys/k", false],
  ["/etc/**/*.key", "/etc/ssl/private/a.key", true],
  ["a?c", "/p/a/c", false],
  ["!.env", "/p/other", false],
  ["*", "/p/anything", true],
  ["", "/p/anything", false],
])("%j about %s: %s", (pattern, path, expected) => {
  expect(secretTest([pattern], "/home/me")(path)).toBe(expected);
});

it("does not get slow on a pattern made to be slow", () => {
  const isSecret = secretTest([`${"*a".repeat(100)}b`, `${"**/".repeat(80)}b`], "/home/me");
  expect(isSecret(`/p/${"a".repeat(250)}`)).toBe(false);
  expect(isSecret(`${"/a".repeat(1000)}`)).toBe(false);
});

it("refuses wildcards that it does not know rather than protect nothing", () => {
  expect(() => secretTest(["*.{pem,key}"], "/home/me")).toThrow(
    "secrets.paths: *.{pem,key} is not usable: only * and ? are wildcards.",
  );
});
